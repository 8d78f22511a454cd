import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { parseArguments } from "./client/arguments.ts";
import { createTask, findTool, type Handle } from "./client/create.ts";
import { type ClientOptions, followToEnd, openSession, type Session, withSession } from "./client/session.ts";
import { jsonText } from "./display/text.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { CliFailure } from "./failure.ts";
import type { Shell } from "./shell.ts";
import { stopOnSignals } from "./signals.ts";

export type CallOptions = ClientOptions & {
  readonly arg?: readonly string[];
  readonly argsJson?: string;
  readonly key?: string;
  readonly follow: boolean;
  readonly detach?: boolean;
};

/** Makes a task, follows it to its end and shows what it came to. */
export async function callTool(tool: string, options: CallOptions, shell: Shell): Promise<ExitCode> {
  const { follow, detach = false, json = false, key = null } = options;
  return await leavable(options, shell, async (session, made) => {
    const { client, greet, patience, signal } = session;
    const found = await greet.insist(() => findTool(client, tool, signal));
    const given = { pairs: options.arg ?? [], json: await wholeArguments(options.argsJson, shell) };
    const args = parseArguments(given, found.inputSchema);
    const handle = await createTask(client, { tool: found, args, key }, { patience, signal });
    made(handle.taskId);
    if (!follow || detach) {
      session.display.stop();
      shell.print(json ? jsonText({ kind: "task", ...handle.task, key: handle.key }) : handle.taskId);
      if (detach) shell.tell(howToReturn(handle.taskId));
      return EXIT.ok;
    }
    if (json) shell.print(jsonText({ kind: "task", ...handle.task, key: handle.key }));
    else session.display.note(handleText(handle));
    return await followToEnd(session, { taskId: handle.taskId, after: null });
  });
}

export type WatchOptions = ClientOptions & { readonly after?: number };

export async function watchTask(taskId: string, options: WatchOptions, shell: Shell): Promise<ExitCode> {
  return await leavable(options, shell, async (session, made) => {
    made(taskId);
    const { client, greet, signal } = session;
    // Who mistyped an id, or has no server, is told at once.
    await greet.insist(() => client.request("tasks/get", { taskId }, { signal }));
    return await followToEnd(session, { taskId, after: options.after ?? null });
  });
}

/** Follows until the end or the first signal: that leaves the task alone and says how to come back to it. */
async function leavable(
  options: ClientOptions,
  shell: Shell,
  work: (session: Session, made: (taskId: string) => void) => Promise<ExitCode>,
): Promise<ExitCode> {
  const stopping = stopOnSignals();
  const session = openSession(options, shell, { signal: stopping.signal, isLive: true });
  let taskId: string | null = null;
  try {
    return await withSession(session, () =>
      work(session, (made) => {
        taskId = made;
      }),
    );
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    session.display.stop();
    shell.tell(
      taskId === null ? "left before there was an answer" : `left; the job goes on. ${howToReturn(taskId)}`,
    );
    return EXIT.interrupted;
  } finally {
    stopping.release();
  }
}

function howToReturn(taskId: string): string {
  return `Follow it with: tailrace watch ${taskId}   Stop it with: tailrace cancel ${taskId}`;
}

function handleText({ taskId, key, isExisting }: Handle): string {
  const how = isExisting ? "found the task of this key" : "task";
  return `${how} ${taskId}${key === null ? "" : ` (key ${JSON.stringify(key)})`}`;
}

/** `-` reads standard input, `@file` a file: arguments may be long, or nobody else's business. */
async function wholeArguments(given: string | undefined, shell: Shell): Promise<string | null> {
  if (given === undefined) return null;
  if (given === "-") return await text(shell.stdin);
  if (!given.startsWith("@")) return given;
  return await readFile(given.slice(1), "utf8").catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliFailure(`--args-json: ${why}`, EXIT.usage, { cause: error });
  });
}
