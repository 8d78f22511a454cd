import { access, constants, mkdir } from "node:fs/promises";
import { formatProblems, loadSettings } from "../config/load.ts";
import type { Settings } from "../config/settings.ts";
import { EXIT } from "./exit-codes.ts";
import { CliFailure } from "./failure.ts";
import type { Shell } from "./shell.ts";

/** The options that say which configuration counts; those given win over the file and the environment. */
export type ConfigOptions = {
  readonly config?: string;
  readonly stateDir?: string;
  readonly host?: string;
  readonly port?: number;
  /** Serve these targets only. */
  readonly target?: readonly string[];
};

export type Loaded = {
  readonly settings: Settings;
  readonly warnings: readonly string[];
  readonly file: string | null;
};

/** Throws with every problem of the configuration at once. */
export async function readSettings(options: ConfigOptions, shell: Shell): Promise<Loaded> {
  const { config, stateDir, host, port, target: targets } = options;
  const overrides = { stateDir, host, port, targets };
  const answer = await loadSettings({ path: config ?? null, env: shell.env, cwd: shell.cwd, overrides });
  if (answer.kind === "problems") throw new CliFailure(formatProblems(answer.problems), EXIT.usage);
  const { settings, warnings, file } = answer;
  return { settings, warnings, file };
}

/** Settings to work with: the state directory exists and takes files. */
export async function readUsableSettings(options: ConfigOptions, shell: Shell): Promise<Loaded> {
  const loaded = await readSettings(options, shell);
  await ensureStateDir(loaded.settings.stateDir);
  return loaded;
}

async function ensureStateDir(stateDir: string): Promise<void> {
  try {
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    await access(stateDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliFailure(
      `the state directory ${stateDir} cannot be used (${why}): make it writable, or choose another with --state-dir`,
      EXIT.failure,
      { cause: error },
    );
  }
}
