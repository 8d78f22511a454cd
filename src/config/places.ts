import { homedir, hostname } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

export type Env = Readonly<Record<string, string | undefined>>;

/** From the command line; they win over the file. */
export type Overrides = {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Relative paths start at `cwd`. */
  readonly stateDir?: string | undefined;
  /** Serve these targets only; the tools of the others stay known. */
  readonly targets?: readonly string[] | undefined;
};

export const CONFIG_NAME = "tailrace.yaml";

/** Which file to read, and whether it may be missing. */
export function configPlace({
  path,
  env,
  cwd,
}: {
  readonly path: string | null;
  readonly env: Env;
  readonly cwd: string;
}) {
  const named = path ?? (env["TAILRACE_CONFIG"] || null);
  return { path: resolve(cwd, named ?? CONFIG_NAME), shown: named ?? CONFIG_NAME, isNamed: named !== null };
}

/** The state directory where nothing configures one. Of this host alone: a home directory may be shared by many. */
export function defaultStateDir(env: Env, cwd: string): string {
  const named = env["TAILRACE_STATE_DIR"];
  if (named) return resolve(cwd, named);
  const xdg = env["XDG_STATE_HOME"];
  // The XDG rules say that a relative path there is to be ignored.
  const base = xdg && isAbsolute(xdg) ? xdg : join(env["HOME"] || homedir(), ".local", "state");
  return join(base, "tailrace", hostname());
}
