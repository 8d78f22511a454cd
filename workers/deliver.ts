import { insist } from "../src/domain/advance.ts";
import { hasEnded } from "../src/domain/task.ts";
import { ask } from "./ask.ts";
import type { WorkerDeps } from "./deps.ts";

/** Hands an answer to the waiting job. Repeatable; the duty goes with the fact that it arrived. */
export async function deliverAnswer(
  deps: WorkerDeps,
  answer: { readonly taskId: string; readonly key: string },
  stop: AbortSignal,
): Promise<void> {
  const { taskId, key } = answer;
  const record = (await deps.store.read(taskId))?.record;
  if (record === undefined || record.job === null || hasEnded(record)) return;
  const input = record.inputs.find((one) => one.key === key);
  if (input?.answer === undefined || input.deliveredAtMs !== null) return;
  const { job } = record;
  const value = input.answer;
  await ask(deps, { withinMs: deps.tuning.callTimeoutMs, stop }, (signal) =>
    deps.adapter.deliver(job, key, value, signal),
  );
  const atMs = await deps.store.now();
  await insist(deps, taskId, () => ({ kind: "input_delivered", key, atMs }));
}
