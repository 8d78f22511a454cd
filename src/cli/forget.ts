import { userInfo } from "node:os";
import { createInterface } from "node:readline/promises";
import { insist } from "../domain/advance.ts";
import { fingerprint, hasEnded } from "../domain/task.ts";
import { outcomeLine } from "../mcp/outcome-text.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { CliFailure } from "./failure.ts";
import type { Shell } from "./shell.ts";
import { readTask } from "./show.ts";
import { type OperatorOptions, withLedger } from "./with-ledger.ts";

export type ForgetOptions = OperatorOptions & { readonly yes?: boolean; readonly why: string };

/** Ends a task whose end no witness will ever tell. What its job does, if there is one, stays as it is. */
export async function forgetTask(taskId: string, options: ForgetOptions, shell: Shell): Promise<ExitCode> {
  return await withLedger(options, shell, async ({ store, hastener }, settings) => {
    const { record } = await readTask(store, taskId);
    if (hasEnded(record)) {
      shell.print(`nothing to forget: ${fingerprint(taskId)} has ended: ${outcomeLine(record)}`);
      return EXIT.ok;
    }
    if (options.yes !== true) {
      const isKnown = Object.hasOwn(settings.targets, record.target);
      shell.tell(
        `${fingerprint(taskId)} (${record.tool} on ${record.target}, ${record.phase}) will end as lost. A job that still runs is not stopped${
          isKnown ? `: "tailrace cancel" does that` : ""
        }.`,
      );
      await confirm(shell);
    }
    const { hasten } = hastener;
    const atMs = await store.now();
    const after = await insist({ store, hasten }, taskId, (now) =>
      hasEnded(now) ? null : { kind: "forgotten", atMs, by: userInfo().username, why: options.why },
    );
    shell.print(
      after === null ? "the task is gone" : `${fingerprint(taskId)} has ended: ${outcomeLine(after)}`,
    );
    return EXIT.ok;
  });
}

async function confirm(shell: Shell): Promise<void> {
  if (!shell.stdin.isTTY) throw new CliFailure("not done: say --yes where nobody can be asked", EXIT.usage);
  const asking = createInterface({ input: shell.stdin, output: shell.stderr });
  try {
    const answer = await asking.question("Forget it? [y/N] ");
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliFailure("not done");
  } finally {
    asking.close();
  }
}
