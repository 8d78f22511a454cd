import { createAdapters } from "../compose.ts";
import type { Settings } from "../config/settings.ts";
import type { JobRef, SteerAction, SteerAnswer } from "../domain/adapter.ts";
import { fingerprint, hasEnded, type TaskRecord } from "../domain/task.ts";
import { outcomeLine } from "../mcp/outcome-text.ts";
import { shown } from "./display/text.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { CliFailure } from "./failure.ts";
import type { Shell } from "./shell.ts";
import { readTask } from "./show.ts";
import { type OperatorOptions, withLedger } from "./with-ledger.ts";

const DONE: Readonly<Record<SteerAction, string>> = {
  hold: "is held",
  release: "is released",
  suspend: "is suspended",
  resume: "goes on",
};

export type SteerRequest = { readonly action: SteerAction; readonly taskId: string };

/** Asks a task's scheduler directly; the workers' next look brings what came of it into the task. */
export async function steerTask(
  { action, taskId }: SteerRequest,
  options: OperatorOptions,
  shell: Shell,
): Promise<ExitCode> {
  return await withLedger(options, shell, async ({ store }, settings) => {
    const { record } = await readTask(store, taskId);
    const job = jobOf(record, action, settings);
    const answer = await steer(settings, { target: record.target, job, action });
    const what = `job ${shown(job.id)} of ${fingerprint(taskId)} (${record.tool} on ${record.target})`;
    if (answer.kind === "done") {
      shell.print(`${what} ${DONE[action]}`);
      return EXIT.ok;
    }
    shell.tell(`tailrace: ${action} is refused for ${what}: ${shown(answer.reason, 600)}`);
    return EXIT.refused;
  });
}

function jobOf(record: TaskRecord, action: SteerAction, { targets }: Settings): JobRef {
  const { id, job, target, phase } = record;
  const name = fingerprint(id);
  if (hasEnded(record))
    throw new CliFailure(`nothing to ${action}: ${name} has ended: ${outcomeLine(record)}`);
  if (!Object.hasOwn(targets, target))
    throw new CliFailure(
      `the target ${target} of ${name} is not configured here: give the configuration that has it with --config`,
    );
  if (job !== null) return job;
  throw new CliFailure(
    `${name} has no job yet (it is ${phase}): wait for "tailrace show" to tell its job, or use "tailrace cancel"`,
  );
}

type Steering = { readonly target: string; readonly job: JobRef; readonly action: SteerAction };

async function steer(settings: Settings, { target, job, action }: Steering): Promise<SteerAnswer> {
  const adapters = createAdapters(settings);
  try {
    const adapter = adapters.get(target);
    if (adapter === undefined) throw new CliFailure(`the target ${target} is not configured here`);
    return await adapter.steer(job, action, AbortSignal.timeout(settings.tuning.callTimeoutMs));
  } finally {
    await Promise.all([...adapters.values()].map((adapter) => adapter.close()));
  }
}
