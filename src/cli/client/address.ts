import { readFile } from "node:fs/promises";
import { readDrawnToken } from "../../auth/drawn-token.ts";
import { EXIT } from "../exit-codes.ts";
import { CliFailure } from "../failure.ts";
import { readServerFile, type ServerFile } from "../server-file.ts";
import { NoServer } from "./faults.ts";

export type ServerAddress = { readonly url: string; readonly token: string | null };

/** Looked up anew for each request: a server that was started again may have another port. */
export type Locate = () => Promise<ServerAddress>;

export type AddressOptions = {
  readonly url?: string;
  readonly tokenFile?: string;
};

type Deps = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Asked only when address or token are not given. */
  readonly stateDir: () => Promise<string>;
};

/** The server that runs on the state directory, or the one that is named. */
export function createLocate(options: AddressOptions, deps: Deps): Locate {
  const { url } = options;
  if (url !== undefined && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    throw new CliFailure(`--url ${JSON.stringify(url)} is no http or https address`, EXIT.usage);
  }
  return async () => {
    const given = await givenToken(options, deps);
    if (url !== undefined && given !== null) return { url, token: given };
    const stateDir = await deps.stateDir();
    const server = await readServerFile(stateDir);
    if (url !== undefined) {
      // Our token is for our own server: whoever else listens somewhere must not be handed it.
      return { url, token: server?.url === url && isRunning(server) ? await readDrawnToken(stateDir) : null };
    }
    if (server === null || !isRunning(server)) {
      throw new NoServer(
        `no tailrace serves ${stateDir}: start one with "tailrace up", or name another with --url or --state-dir`,
      );
    }
    return { url: server.url, token: given ?? (await readDrawnToken(stateDir)) };
  };
}

/** Tokens come from files and the environment only: a command line is for everybody on the machine to read. */
async function givenToken({ tokenFile }: AddressOptions, { env }: Deps): Promise<string | null> {
  if (tokenFile === undefined) {
    const token = env["TAILRACE_TOKEN"]?.trim() ?? "";
    return token === "" ? null : checkedToken(token, "TAILRACE_TOKEN");
  }
  const text = await readFile(tokenFile, "utf8").catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliFailure(`the token file cannot be read: ${why}`, EXIT.usage, { cause: error });
  });
  return checkedToken(text.trim(), tokenFile);
}

/** What no header can carry is refused here: whoever sends it would say it aloud in a complaint. */
function checkedToken(token: string, source: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new CliFailure(`${source} holds no token: expected one line without blanks`, EXIT.usage);
}

/** A server that was killed leaves its file behind, and its port may be anybody's by now. */
function isRunning({ pid }: ServerFile): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
