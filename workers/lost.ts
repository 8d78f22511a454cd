import { advance } from "../src/domain/advance.ts";
import { BridgeError } from "../src/domain/errors.ts";
import { fingerprint, hasEnded, type TaskRecord } from "../src/domain/task.ts";
import { ask } from "./ask.ts";
import type { WorkerDeps } from "./deps.ts";
import { retireJob } from "./retire.ts";

/**
 * The `lost` rule: a job that no witness has had for the configured time and number of looks is given up, unless its
 * mark has another job. That the mark leads to this very job is no news: it is what the witnesses were asked about.
 * Looks that could not tell count for nothing. Anything short of that leaves the task working.
 */
export async function considerLost(
  deps: WorkerDeps,
  record: TaskRecord,
  at: { readonly atMs: number; readonly stop: AbortSignal },
): Promise<void> {
  const { unseen, job } = record;
  const gone = unseen?.gone ?? null;
  if (job === null || unseen === null || gone === null || gone.looks < deps.tuning.lostLooks) return;
  if (at.atMs - gone.sinceMs < deps.tuning.lostAfterMs) return;
  const about = { target: deps.target, task: fingerprint(record.id) };
  try {
    const within = { withinMs: deps.tuning.callTimeoutMs, stop: at.stop };
    const found = await ask(deps, within, (signal) => deps.adapter.locate([record.mark], signal));
    const other = found.get(record.mark);
    if (other === undefined) return;
    if (other !== null && other.id !== job.id) {
      deps.log.warn({ event: "lost.other_job", ...about, job: job.id, other: other.id });
      await advance(deps, record, { kind: "other_job_found", job: other, atMs: at.atMs });
      return;
    }
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    deps.log.warn({ event: "lost.locate", ...about, err: error });
    return;
  }
  const minutes = Math.round((at.atMs - gone.sinceMs) / 60_000);
  const why = `no witness has seen job ${job.id} for ${minutes} min: ${unseen.why}`;
  const after = await advance(deps, record, { kind: "lost", why, atMs: at.atMs });
  if (after !== null && hasEnded(after)) await retireJob(deps, after);
}
