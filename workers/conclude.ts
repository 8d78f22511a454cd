import type { Collected, JobSpec } from "../src/domain/adapter.ts";
import { commitStep } from "../src/domain/advance.ts";
import { BridgeError } from "../src/domain/errors.ts";
import { cancelInTime, stoppedByUs } from "../src/domain/fact.ts";
import { apply } from "../src/domain/lifecycle.ts";
import { concludeOutcome } from "../src/domain/outcome.ts";
import { fingerprint, type TaskRecord, type TaskResult } from "../src/domain/task.ts";
import { ask } from "./ask.ts";
import { pause, type WorkerDeps } from "./deps.ts";
import type { Following } from "./following.ts";
import { retireJob } from "./retire.ts";

/**
 * The last step of a task: outputs collected, verdict and end joined, everything written in one call that is fenced by
 * the follower's epoch. `changed`: the record moved on meanwhile (a requeue, another follower); look again.
 */
export async function conclude(
  deps: WorkerDeps,
  follow: Following,
  at: { readonly stop: AbortSignal; readonly logProblem: string | null },
): Promise<"done" | "changed"> {
  const { record, pipeline } = follow;
  if (record.end === null) return "changed";
  const collected = await collectOutputs(deps, record, at.stop);
  if (collected === null) return "changed";
  const atMs = await deps.store.now();
  // Kept although this commit may come too late: what was taken out of the pipeline is told by no other.
  follow.pending.push(...pipeline.take(atMs, { final: true }));
  const findings = pipeline.findings();
  const judged = concludeOutcome(record.end, findings, stoppedByUs(cancelInTime(record), record.end));
  const reasons = [judged.reason, at.logProblem, collected.problem].filter((reason) => reason !== null);
  const outcome = { ...judged, reason: reasons.length === 0 ? null : reasons.join("; ") };
  const progress = pipeline.progress();
  const result: TaskResult = {
    metrics: { ...progress.metrics },
    artifacts: [...collected.value.artifacts],
    skipped: [...collected.value.skipped],
    result: collected.value.result,
    tail: [...pipeline.tail()],
    summary: progress.text,
  };
  const step = apply(record, { kind: "concluded", outcome, result, atMs });
  const events = [...follow.pending, ...pipeline.conclude(record.end), ...step.events];
  const after = await commitStep(deps, record, { record: step.record, events, epoch: follow.epoch });
  if (after === null) return "changed";
  await retireJob(deps, after);
  return "done";
}

type Gathered = { readonly value: Collected; readonly problem: string | null };

/**
 * A result that does not fit the tool's promise is not handed on as if it did. What the job did stays what it is. Only a
 * job that ended well owes a result.
 */
function checked(
  deps: WorkerDeps,
  { record, spec }: { readonly record: TaskRecord; readonly spec: JobSpec },
  value: Collected,
): Gathered {
  const { outputSchema } = spec;
  if (outputSchema === undefined || value.resultProblem !== null) {
    return { value, problem: value.resultProblem };
  }
  if (value.result !== null) {
    const problem = deps.checkResult(outputSchema, value.result);
    return { value: problem === null ? value : { ...value, result: null }, problem };
  }
  const missing = "the job left no result.json, although the tool has an output schema";
  return { value, problem: record.end?.exitCode === 0 ? missing : null };
}

const NOTHING: Collected = { artifacts: [], skipped: [], result: null, resultProblem: null };

/** Tries until collectTimeout after the end; then the task ends without outputs and says why. Null: asked to stop. */
async function collectOutputs(
  deps: WorkerDeps,
  record: TaskRecord,
  stop: AbortSignal,
): Promise<Gathered | null> {
  const { tuning, adapter, store } = deps;
  const spec = await store.readSpec(record.id);
  const { job } = record;
  if (job === null || spec === null) return { value: NOTHING, problem: null };
  const untilMs = (record.collectingAtMs ?? 0) + tuning.collectTimeoutMs;
  for (;;) {
    if (stop.aborted) return null;
    try {
      const request = { outputs: spec.outputs, ...tuning.outputs };
      const at = { withinMs: tuning.collectTimeoutMs, stop };
      const value = await ask(deps, at, (signal) => adapter.collect(job, request, signal));
      return checked(deps, { record, spec }, value);
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      deps.log.warn({
        event: "collect.fault",
        target: deps.target,
        task: fingerprint(record.id),
        err: error,
      });
      if ((await store.now()) >= untilMs)
        return { value: NOTHING, problem: `outputs not collected: ${error.message}` };
      await store.reschedule(deps.target, [{ member: `follow:${record.id}`, inMs: tuning.dutyMs }]);
      await pause(tuning.quietReadMs, stop);
    }
  }
}
