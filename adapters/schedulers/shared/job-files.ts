import type { JobSpec } from "../../../src/domain/adapter.ts";
import { WRAPPER } from "./wrapper.sh.ts";
import { COOKIE } from "./wrapper-names.ts";

/** One word of POSIX sh that stands for exactly this text. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export type JobFile = { readonly name: string; readonly text: string; readonly mode: number };

/** Everything in `.tailrace/` that the job needs to run, in the order of writing; spec.json last says that all is there. */
export function jobFiles(spec: JobSpec): JobFile[] {
  return [
    { name: "params.json", text: `${JSON.stringify(spec.args, null, 2)}\n`, mode: 0o600 },
    { name: "env", text: envFile(spec), mode: 0o600 },
    ...(spec.run.kind === "script" ? [{ name: "script", text: spec.run.text, mode: 0o700 }] : []),
    { name: "run", text: runFile(spec), mode: 0o700 },
    { name: "wrapper", text: WRAPPER, mode: 0o700 },
    { name: "spec.json", text: `${JSON.stringify(spec)}\n`, mode: 0o600 },
  ];
}

/** Sourced in the job's own shell alone, so that no variable of the job reaches the wrapper's commands. */
function envFile(spec: JobSpec): string {
  const trace = spec.traceparent === undefined ? {} : { TRACEPARENT: spec.traceparent };
  return Object.entries({ ...trace, ...spec.env })
    .map(([name, value]) => `export ${name}=${shellWord(value)}\n`)
    .join("");
}

/** `sh run DIR`: becomes the operator's program. Paths hang on DIR, which may differ between machines. */
function runFile(spec: JobSpec): string {
  const lines = [
    "tr_dir=$1",
    "export LC_ALL=C",
    '. "$tr_dir/.tailrace/env"',
    `export ${COOKIE}="$tr_dir" TAILRACE_MESSAGES="$tr_dir/.tailrace/messages"`,
    'cd "$tr_dir/work" || exit 126',
    ...(spec.run.kind === "argv" ? argvLines(spec.run.argv) : scriptLines(spec.run.text)),
  ];
  return `${lines.join("\n")}\n`;
}

function argvLines(argv: readonly string[]): string[] {
  return [`exec ${argv.map(shellWord).join(" ")}`];
}

/**
 * Starts the script as the kernel would by its first line, but names the interpreter: that works on file systems mounted
 * noexec, and a missing interpreter is called by its name.
 */
function scriptLines(text: string): string[] {
  const { interpreter, argument } = shebang(text);
  const words = [interpreter, ...(argument === "" ? [] : [argument])].map(shellWord).join(" ");
  const hint = interpreter.endsWith("\r") ? " (the script has Windows line ends)" : "";
  const shown = interpreter.replaceAll(/[^\x20-\x7e]/g, "?");
  const missing = `tailrace: the script's interpreter ${shown} is missing${hint}`;
  const barred = `tailrace: the script's interpreter ${shown} may not be executed${hint}`;
  return [
    `[ -f ${shellWord(interpreter)} ] || { printf '%s\\n' ${shellWord(missing)} >&2; exit 127; }`,
    `[ -x ${shellWord(interpreter)} ] || { printf '%s\\n' ${shellWord(barred)} >&2; exit 126; }`,
    `exec ${words} "$tr_dir/.tailrace/script"`,
  ];
}

function shebang(text: string): { interpreter: string; argument: string } {
  const line = /^#![ \t]*([^ \t\n]+)[ \t]*([^\n]*)/.exec(text);
  const [, interpreter = "/bin/sh", rest = ""] = line ?? [];
  return { interpreter, argument: rest.replace(/[ \t]+$/, "") };
}
