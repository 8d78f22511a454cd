import { advance } from "../src/domain/advance.ts";
import { BridgeError } from "../src/domain/errors.ts";
import { fingerprint, type TaskRecord } from "../src/domain/task.ts";
import { ask } from "./ask.ts";
import type { WorkerDeps } from "./deps.ts";

/**
 * The `lost` rule: a job that no witness has seen for the configured time and number of looks, and that is not found by
 * its mark either, is given up. Anything short of that leaves the task working.
 */
export async function considerLost(
  deps: WorkerDeps,
  record: TaskRecord,
  at: { readonly atMs: number; readonly stop: AbortSignal },
): Promise<void> {
  const { unseen } = record;
  if (unseen === null || unseen.looks < deps.tuning.lostLooks) return;
  if (at.atMs - unseen.sinceMs < deps.tuning.lostAfterMs) return;
  try {
    const within = { withinMs: deps.tuning.callTimeoutMs, stop: at.stop };
    const found = await ask(deps, within, (signal) => deps.adapter.locate([record.mark], signal));
    if (found.get(record.mark) !== null) return;
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    deps.log.warn({ event: "lost.locate", target: deps.target, task: fingerprint(record.id), err: error });
    return;
  }
  const minutes = Math.round((at.atMs - unseen.sinceMs) / 60_000);
  const why = `no witness has seen job ${record.job?.id ?? "?"} for ${minutes} min: ${unseen.why}`;
  await advance(deps, record, { kind: "lost", why, atMs: at.atMs });
}
