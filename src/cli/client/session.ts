import type { JsonObject } from "../../domain/json.ts";
import type { Display } from "../display/display.ts";
import { createLiveDisplay } from "../display/live.ts";
import { createJsonDisplay, createPlainDisplay } from "../display/plain.ts";
import { isTaskOk } from "../display/result.ts";
import { shown } from "../display/text.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { CliFailure } from "../failure.ts";
import type { ConfigOptions } from "../settings.ts";
import type { Shell } from "../shell.ts";
import { type AddressOptions, createLocate } from "./address.ts";
import { NoServer, Refused, Unreachable } from "./faults.ts";
import { followTask } from "./follow.ts";
import { createMcpClient, type McpClient } from "./mcp-client.ts";
import { createPatience, type Patience } from "./patience.ts";

export type ClientOptions = AddressOptions &
  Pick<ConfigOptions, "config" | "stateDir"> & {
    readonly json?: boolean;
    readonly patience?: number;
  };

/** What a client command works with. */
export type Session = {
  readonly client: McpClient;
  readonly display: Display;
  /** For what a server must answer while a task lives. */
  readonly patience: Patience;
  /** For the first words: who asks for a server that is not there wants to know soon. */
  readonly greet: Patience;
  readonly signal: AbortSignal;
};

const GREETING_MS = 3000;
const DEFAULT_PATIENCE_MS = 600_000;

export function openSession(
  options: ClientOptions,
  shell: Shell,
  { signal, isLive }: { readonly signal: AbortSignal; readonly isLive: boolean },
): Session {
  const { url, tokenFile, stateDir, config, json = false } = options;
  const locate = createLocate(
    { ...(url === undefined ? {} : { url }), ...(tokenFile === undefined ? {} : { tokenFile }) },
    { env: shell.env, stateDir: () => stateDirOf({ config, stateDir }, shell) },
  );
  const display = json
    ? createJsonDisplay(shell)
    : isLive && shell.stderr.isTTY
      ? createLiveDisplay(shell)
      : createPlainDisplay(shell);
  const onWait = display.away;
  const patienceMs = options.patience ?? DEFAULT_PATIENCE_MS;
  return {
    client: createMcpClient(locate),
    display,
    patience: createPatience({ patienceMs, signal, onWait }),
    greet: createPatience({
      patienceMs: Math.min(patienceMs, GREETING_MS),
      signal,
      onWait,
      isHopeless: (fault) => fault instanceof NoServer,
    }),
    signal,
  };
}

/** Named outright, or by the configuration that the server reads too. */
async function stateDirOf(
  options: { readonly config: string | undefined; readonly stateDir: string | undefined },
  shell: Shell,
): Promise<string> {
  const { config, stateDir } = options;
  if (stateDir !== undefined && config === undefined) return stateDir;
  const given = {
    ...(config === undefined ? {} : { config }),
    ...(stateDir === undefined ? {} : { stateDir }),
  };
  const { readSettings } = await import("../settings.ts");
  return (await readSettings(given, shell)).settings.stateDir;
}

/** Follows to the end, shows the result, and answers what the task came to. */
export async function followToEnd(
  session: Session,
  task: { readonly taskId: string; readonly after: number | null },
  isAsWished: (task: JsonObject) => boolean = isTaskOk,
): Promise<ExitCode> {
  const { client, display, patience, signal } = session;
  const ended = await followTask(client, { ...task, signal, patience, onNews: display.news });
  display.stop();
  display.result(ended);
  return isAsWished(ended) ? EXIT.ok : EXIT.notOk;
}

/** Runs a client command; the server's refusals and silences become the program's own words and exit codes. */
export async function withSession<T>(session: Session, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    session.display.stop();
    if (error instanceof Refused)
      throw new CliFailure(shown(error.message, 1000), EXIT.refused, { cause: error });
    if (error instanceof Unreachable) throw new CliFailure(error.message, EXIT.unreachable, { cause: error });
    throw error;
  }
}
