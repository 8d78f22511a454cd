import { readdirSync, readFileSync } from "node:fs";
import type { CommandResult } from "../../adapters/schedulers/slurm/submit-answer.ts";

export type Submit = { readonly file: string; readonly command: string; readonly result: CommandResult };

const FOLDER = new URL("../fixtures/slurm/submit/", import.meta.url);

/** Each call of sbatch that the captures hold, as a command's result. */
export function capturedSubmits(): Submit[] {
  return readdirSync(FOLDER).flatMap((file) =>
    readFileSync(new URL(file, FOLDER), "utf8")
      .split(/^\$ /m)
      .filter((block) => /\bsbatch --(?:parsable|test-only)|\bsbatch -/.test(block.split("\n", 1)[0] ?? ""))
      .map((block) => ({ file, command: block.split("\n", 1)[0] ?? "", result: resultOf(block) })),
  );
}

function resultOf(block: string): CommandResult {
  const output = /^--- stdout\n([\s\S]*?)(?=^--- stderr|(?![\s\S]))/m.exec(block)?.[1] ?? "";
  // `; echo rc=$?` hides the command's own exit code behind that of echo.
  const code = /^rc=(\d+)$/m.exec(output)?.[1] ?? /^# exit=(\d+)/m.exec(block)?.[1] ?? "";
  return {
    exitCode: Number(code),
    stdout: output.replace(/^rc.*$/m, ""),
    stderr: /^--- stderr\n([\s\S]*)/m.exec(block)?.[1] ?? "",
    timedOut: code === "124",
    aborted: false,
    notStarted: null,
  };
}
