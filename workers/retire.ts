import { BridgeError } from "../src/domain/errors.ts";
import { fingerprint, type TaskRecord } from "../src/domain/task.ts";
import { ask } from "./ask.ts";
import type { WorkerDeps } from "./deps.ts";

/**
 * Called by whoever has ended a task that has a job, after the end was written: before, a requeue could still make it
 * void. The task is over whether this succeeds or not.
 */
export async function retireJob(deps: WorkerDeps, { id, job }: TaskRecord): Promise<void> {
  if (job === null) return;
  try {
    await ask(deps, { withinMs: deps.tuning.callTimeoutMs }, (signal) => deps.adapter.retire(job, signal));
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    deps.log.warn({ event: "retire.fault", target: deps.target, task: fingerprint(id), err: error });
  }
}
