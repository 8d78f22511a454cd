/** What the exit codes mean. Scripts build on them: they never change once released. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  notOk: 3,
  unreachable: 4,
  refused: 5,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const MEANING: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: "done; for call and watch: the task's outcome is ok, or the task goes on and was left alone as asked",
  failure: "something failed: the message says what, and what to do",
  usage: "the command line or the configuration has problems",
  notOk: "the task ended, and its outcome is not ok (failed, diverged, cancelled, …)",
  unreachable: "no server answers, or none did for as long as --patience allows",
  refused:
    "the server refused the request (token, unknown tool or task, arguments, key), or the scheduler one to hold, release, suspend or resume",
  interrupted:
    "left by Ctrl-C or SIGTERM; a task that was followed goes on. A server that is stopped so exits with 0",
};

/** For --help. */
export function exitCodeHelp(): string {
  const rows = Object.entries(EXIT).map(
    ([name, code]) => `  ${String(code).padEnd(4)} ${MEANING[name as keyof typeof EXIT]}`,
  );
  return ["", "Exit codes:", ...rows].join("\n");
}
