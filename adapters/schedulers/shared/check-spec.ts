import type { JobSpec } from "../../../src/domain/adapter.ts";
import { COOKIE, TIMER_COOKIE } from "./wrapper-names.ts";

/** Linux's MAX_ARG_STRLEN: one argument or `NAME=value`, with its closing NUL. */
const MAX_STRING_BYTES = 128 * 1024;
/** Linux gives arguments and environment together a quarter of an 8 MiB stack; the rest is the target's own environment. */
const MAX_TOTAL_BYTES = 1792 * 1024;

/** Names that a shell keeps for itself: setting them ends the shell or changes how it reads the next line. */
const SHELL_NAMES = new Set(
  "BASHOPTS BASH_VERSINFO EUID GROUPS IFS LINENO OPTIND PPID SHELLOPTS UID".split(" "),
);
const OUR_NAMES = new Set([COOKIE, TIMER_COOKIE, "TAILRACE_MESSAGES"]);

/** Why this could never be started, whatever the target; null when it can. */
export function specProblem(spec: JobSpec): string | null {
  const argv = spec.run.kind === "argv" ? spec.run.argv : [];
  const env = Object.entries(spec.env);
  const strings: [string, string][] = [
    ...argv.map((value, index): [string, string] => [`argument ${index}`, value]),
    ...env.map(([name, value]): [string, string] => [`environment variable ${name}`, `${name}=${value}`]),
    ["traceparent", spec.traceparent ?? ""],
  ];
  for (const [name] of env) {
    const problem = nameProblem(name);
    if (problem !== null) return problem;
  }
  for (const [what, value] of strings) {
    const problem = stringProblem(what, value);
    if (problem !== null) return problem;
  }
  if (spec.run.kind === "argv" && (argv[0] === "" || argv[0]?.startsWith("-")))
    return `the program name ${JSON.stringify(argv[0])} is empty or begins with a hyphen`;
  if (spec.run.kind === "script" && spec.run.text.includes("\0")) return "the script holds a NUL byte";
  const total = strings.reduce((sum, [, value]) => sum + Buffer.byteLength(value) + 9, 0);
  if (total > MAX_TOTAL_BYTES)
    return `arguments and environment come to ${total} bytes together; a program can take ${MAX_TOTAL_BYTES}`;
  return null;
}

function nameProblem(name: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return `${JSON.stringify(name.slice(0, 80))} is no name for an environment variable (letters, digits and _)`;
  if (SHELL_NAMES.has(name)) return `the environment variable ${name} belongs to the shell and cannot be set`;
  if (OUR_NAMES.has(name)) return `the environment variable ${name} is set by Tailrace`;
  return null;
}

function stringProblem(what: string, value: string): string | null {
  if (value.includes("\0")) return `${what} holds a NUL byte`;
  if (/\p{Surrogate}/u.test(value)) return `${what} is not valid Unicode (half of a surrogate pair)`;
  const bytes = Buffer.byteLength(value) + 1;
  if (bytes > MAX_STRING_BYTES)
    return `${what} takes ${bytes} bytes; the system allows ${MAX_STRING_BYTES} (put large data into a file)`;
  return null;
}
