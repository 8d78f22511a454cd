import { TailraceError } from "../domain/errors.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";

/** Ends the command with a message for a person: what was wrong, and what to do. */
export class CliFailure extends Error {
  readonly exitCode: ExitCode;
  constructor(message: string, exitCode: ExitCode = EXIT.failure, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "CliFailure";
    this.exitCode = exitCode;
  }
}

export type Explained = { readonly message: string; readonly exitCode: ExitCode };

/** Any error in the words of its author; a stack only for what nobody foresaw, and only when asked for. */
export function explain(error: unknown, isDebugging: boolean): Explained {
  if (error instanceof CliFailure) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof TailraceError) return { message: error.message, exitCode: EXIT.failure };
  if (!(error instanceof Error)) return { message: String(error), exitCode: EXIT.failure };
  if (isDebugging) return { message: error.stack ?? error.message, exitCode: EXIT.failure };
  return { message: error.message, exitCode: EXIT.failure };
}

/** The code of a fault of the operating system, such as EACCES; undefined for any other error. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
