import type { JobRef, SubmitAnswer } from "../src/domain/adapter.ts";
import { advance, insist } from "../src/domain/advance.ts";
import { BridgeError } from "../src/domain/errors.ts";
import { fingerprint, type TaskRecord } from "../src/domain/task.ts";
import { ask } from "./ask.ts";
import type { WorkerDeps } from "./deps.ts";

/**
 * Brings a task's job to the scheduler, once. A try is recorded before it is made; a try whose fate is not known is
 * waited out, looked for by its mark, and shut out by its claim before the next one is made. Never by guess or count.
 */
export async function submitTask(deps: WorkerDeps, taskId: string, stop: AbortSignal): Promise<void> {
  const stored = await deps.store.read(taskId);
  if (stored === null) return;
  const record = stored.record;
  if (record.phase !== "accepted" && record.phase !== "submitting") return;
  const nowMs = await deps.store.now();
  if (record.leaseUntilMs !== null && record.leaseUntilMs > nowMs) {
    return again(deps, taskId, record.leaseUntilMs - nowMs);
  }
  if (record.attempt > 0 && (await settledEarlier(deps, record, stop))) return;
  if (record.cancel !== null) {
    await advance(deps, record, {
      kind: "not_submitted",
      cause: "cancelled",
      reason: "cancelled before it was submitted",
      atMs: nowMs,
    });
    return;
  }
  const leaseMs = submitLimitMs(deps) + deps.tuning.leaseMarginMs;
  const leased = await advance(deps, record, {
    kind: "attempt_leased",
    attempt: record.attempt + 1,
    leaseUntilMs: nowMs + leaseMs,
    atMs: nowMs,
  });
  if (leased !== null) await attempt(deps, leased, stop);
}

/** What the scheduler needs for one submit, unless the operator wants to know sooner. */
function submitLimitMs({ adapter, tuning }: WorkerDeps): number {
  return Math.min(adapter.limits.submitMs, tuning.submitTimeoutMs ?? Number.POSITIVE_INFINITY);
}

/** The tries before this one: true when their fate is settled by the job they made, or cannot be told yet. */
async function settledEarlier(deps: WorkerDeps, record: TaskRecord, stop: AbortSignal): Promise<boolean> {
  const { adapter, tuning } = deps;
  try {
    const at = { withinMs: tuning.callTimeoutMs, stop };
    const found = await ask(deps, at, (signal) => adapter.locate([record.mark], signal));
    const job = found.get(record.mark) ?? null;
    if (job !== null) {
      await recordJob(deps, record.id, job);
      return true;
    }
    const claim = await ask(deps, at, (signal) => adapter.seize(record.mark, record.attempt, signal));
    if (claim === "seized") return false;
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    deps.log.warn({ event: "submit.locate", target: deps.target, task: fingerprint(record.id), err: error });
    // Without a lease the newest try is known to have sent nothing, and those before it are shut out: a cancel need not
    // wait until the target can be asked again.
    if (record.cancel !== null && record.leaseUntilMs === null) return false;
  }
  await again(deps, record.id, tuning.cancelAgainMs);
  return true;
}

async function attempt(deps: WorkerDeps, record: TaskRecord, stop: AbortSignal): Promise<void> {
  const spec = await deps.store.readSpec(record.id);
  if (spec === null) return;
  const request = { mark: record.mark, attempt: record.attempt, spec };
  let answer: SubmitAnswer;
  try {
    const at = { withinMs: submitLimitMs(deps), stop };
    answer = await ask(deps, at, (signal) => deps.adapter.submit(request, signal));
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    return failed(deps, record, error);
  }
  const atMs = await deps.store.now();
  // An answer that comes after a later try has shut this one out is no longer true.
  await insist(deps, record.id, (now) => {
    if (now.attempt !== record.attempt) return null;
    if (answer.kind === "submitted") return { kind: "submitted", job: answer.job, atMs };
    return { kind: "not_submitted", cause: "rejected", reason: answer.reason, atMs };
  });
}

/** A job that was found is recorded whatever else was written meanwhile: dropping it would lose it. */
async function recordJob(deps: WorkerDeps, taskId: string, job: JobRef): Promise<void> {
  const atMs = await deps.store.now();
  await insist(deps, taskId, () => ({ kind: "submitted", job, atMs }));
}

async function failed(deps: WorkerDeps, record: TaskRecord, error: BridgeError): Promise<void> {
  deps.log.warn({ event: "submit.fault", target: deps.target, task: fingerprint(record.id), err: error });
  const atMs = await deps.store.now();
  const leaseUntilMs = error.mayHaveHappened ? record.leaseUntilMs : null;
  await insist(deps, record.id, (now) =>
    now.attempt === record.attempt
      ? { kind: "attempt_uncertain", why: error.message, leaseUntilMs, atMs }
      : null,
  );
  const waitMs = leaseUntilMs === null ? backoffMs(record.attempt) : leaseUntilMs - atMs;
  await again(deps, record.id, waitMs);
}

/** 1 s, 2 s, 4 s … up to a minute. */
function backoffMs(attempt: number): number {
  return Math.min(1_000 * 2 ** Math.min(attempt - 1, 6), 60_000);
}

async function again(deps: WorkerDeps, taskId: string, inMs: number): Promise<void> {
  await deps.store.reschedule(deps.target, [{ member: `submit:${taskId}`, inMs: Math.max(inMs, 100) }]);
}
