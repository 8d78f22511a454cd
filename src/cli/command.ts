import { type Command, InvalidArgumentError, Option } from "commander";
import type { Shell } from "./shell.ts";

/** What a group of commands needs to add itself to the program. */
export type Registry = {
  readonly program: Command;
  readonly shell: Shell;
  /** Takes the exit code of the command that ran. */
  readonly done: (exitCode: number) => void;
};

export function configOption(): Option {
  return new Option(
    "-c, --config <file>",
    "configuration file (default: tailrace.yaml here, if there is one)",
  );
}

export function stateDirOption(): Option {
  return new Option("--state-dir <dir>", "where the embedded store, the token and local jobs live");
}

export function logLevelOption(): Option {
  return new Option("--log-level <level>", "how much is logged, as JSON lines on stderr")
    .choices(["fatal", "error", "warn", "info", "debug", "trace", "silent"])
    .env("TAILRACE_LOG_LEVEL")
    .default("info");
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("expected a whole number of 0 or more.");
  return Number(text);
}

export function portNumber(text: string): number {
  const port = wholeNumber(text);
  if (port > 65_535) throw new InvalidArgumentError("expected a port, 0 to 65535 (0: any free one).");
  return port;
}

/** Collects an option that may be given several times. */
export function several(text: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), text];
}
