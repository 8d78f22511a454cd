import { hasEnded } from "../src/domain/task.ts";
import { ask } from "./ask.ts";
import type { WorkerDeps } from "./deps.ts";

/** Asks the scheduler for the stop, again and again until watch reports the end. Never says that the job stopped. */
export async function cancelTask(deps: WorkerDeps, taskId: string, stop: AbortSignal): Promise<void> {
  const record = (await deps.store.read(taskId))?.record;
  if (record === undefined || record.cancel === null || record.job === null || hasEnded(record)) return;
  const { tuning, target, adapter } = deps;
  const { job } = record;
  await ask(deps, { withinMs: tuning.callTimeoutMs, stop }, (signal) => adapter.cancel(job, signal));
  await deps.store.reschedule(target, [{ member: `cancel:${taskId}`, inMs: tuning.cancelAgainMs }]);
  await deps.store.reschedule(target, [{ member: `watch:${taskId}`, inMs: 0 }]);
}
