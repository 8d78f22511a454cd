import { insist } from "../src/domain/advance.ts";
import { hasEnded } from "../src/domain/task.ts";
import { deadline, type WorkerDeps } from "./deps.ts";

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
  await deps.adapter.deliver(record.job, key, input.answer, deadline(deps.tuning.callTimeoutMs, stop));
  const atMs = await deps.store.now();
  await insist(deps, taskId, () => ({ kind: "input_delivered", key, atMs }));
}
