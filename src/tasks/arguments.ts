import { TailraceError } from "../domain/errors.ts";
import type { Json, JsonObject } from "../domain/json.ts";

/** Linux refuses one argv or environment string of 128 KiB, its NUL included. */
export const MAX_STRING_BYTES = 128 * 1024 - 1;

const ENV_PREFIX = "TAILRACE_ARG_";

export function invalidArguments(problems: readonly string[]): TailraceError {
  return new TailraceError("invalid_arguments", `Invalid arguments: ${problems.join("; ")}.`, {
    data: { problems: [...problems] },
  });
}

/** How an argument looks as an argv element or an environment value: text as it is, everything else as JSON. */
export function argumentText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The environment name of an argument: upper case, everything but A–Z and 0–9 as "_". */
export function envName(argument: string): string {
  return ENV_PREFIX + argument.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}

/** What no job can be given, whatever its tool's schema says; each problem names the field. */
export function argumentProblems(args: JsonObject, limits: { readonly maxArgumentBytes: number }): string[] {
  const problems: string[] = [];
  const bytes = Buffer.byteLength(JSON.stringify(args));
  if (bytes > limits.maxArgumentBytes) {
    problems.push(`the arguments take ${bytes} bytes, over the limit of ${limits.maxArgumentBytes}`);
  }
  for (const [name, value] of Object.entries(args)) collectTextProblems(name, value, problems);
  return problems;
}

/**
 * TAILRACE_ARG_* for every argument. Two arguments that would share a name, a name that the operator's own environment
 * has, and an entry over the system's limit are problems.
 */
export function argumentEnv(
  args: JsonObject,
  operatorEnv: Readonly<Record<string, string>>,
): { readonly env: Record<string, string>; readonly problems: readonly string[] } {
  const takenBy = new Map<string, string>();
  const problems: string[] = [];
  const env: Record<string, string> = {};
  for (const [argument, value] of Object.entries(args)) {
    const name = envName(argument);
    const other = takenBy.get(name);
    if (other !== undefined) {
      problems.push(`${quote(argument)} and ${quote(other)} would both be the environment variable ${name}`);
    } else if (Object.hasOwn(operatorEnv, name)) {
      problems.push(`${quote(argument)} would replace the tool's own environment variable ${name}`);
    }
    takenBy.set(name, argument);
    const text = argumentText(value);
    if (Buffer.byteLength(name) + 1 + Buffer.byteLength(text) > MAX_STRING_BYTES) {
      problems.push(`${quote(argument)} is over 128 KiB as an environment variable`);
    }
    env[name] = text;
  }
  return { env, problems };
}

function collectTextProblems(path: string, value: Json, problems: string[]): void {
  if (path.includes("\0")) {
    problems.push(`the name ${quote(path)} holds a NUL character`);
    return;
  }
  // Too many a JSON reader gives this name a meaning of its own; a job that misses an argument would not know.
  if (/(^|\.)__proto__$/.test(path)) problems.push(`the name ${quote(path)} is not allowed`);
  if (typeof value === "string") {
    if (value.includes("\0")) problems.push(`${quote(path)} holds a NUL character`);
    if (Buffer.byteLength(value) > MAX_STRING_BYTES) problems.push(`${quote(path)} is over 128 KiB`);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collectTextProblems(`${path}[${index}]`, item, problems);
  } else if (value !== null && typeof value === "object") {
    for (const [key, item] of Object.entries(value)) collectTextProblems(`${path}.${key}`, item, problems);
  }
}

function quote(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
}
