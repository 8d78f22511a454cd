import type { JobRef, Observation } from "../src/domain/adapter.ts";
import { advance } from "../src/domain/advance.ts";
import { dueExtension } from "../src/domain/deadlines.ts";
import { dutiesOf, parseDutyMember } from "../src/domain/duties.ts";
import { BridgeError } from "../src/domain/errors.ts";
import { hasEnded, type TaskRecord } from "../src/domain/task.ts";
import { ask } from "./ask.ts";
import type { WorkerDeps } from "./deps.ts";
import { considerLost } from "./lost.ts";
import { retireJob } from "./retire.ts";

/**
 * One tick of a target: takes every due task at once, asks the scheduler once per batch, writes what changed. A record
 * that was changed by another writer since it was read here drops its observation: the next tick looks again.
 */
export async function watchTarget(deps: WorkerDeps, stop: AbortSignal): Promise<void> {
  const limit = deps.adapter.limits.observeBatch;
  const againInMs = Math.max(deps.tuning.observeEveryMs, deps.adapter.limits.minObserveIntervalMs);
  while (!stop.aborted) {
    const members = await deps.store.takeDue(deps.target, "watch", { limit, againInMs });
    if (members.length > 0) await watchBatch(deps, members, stop);
    if (members.length < limit) return;
  }
}

async function watchBatch(deps: WorkerDeps, members: readonly string[], stop: AbortSignal): Promise<void> {
  const ids = members.flatMap((member) => parseDutyMember(member)?.taskId ?? []);
  const records = [...(await deps.store.readMany(ids)).values()].filter(isWatched);
  const jobs = records.flatMap((record) => record.job ?? []);
  if (jobs.length === 0) return;
  const seen = await lookAt(deps, jobs, stop);
  if (seen === null) return;
  const atMs = await deps.store.now();
  await Promise.all(records.map((record) => noteObservation(deps, record, { seen, atMs, stop })));
}

/** A target that could not be asked has told nothing of any of its jobs, and their tasks say why. Null: we are stopping. */
async function lookAt(
  deps: WorkerDeps,
  jobs: readonly JobRef[],
  stop: AbortSignal,
): Promise<ReadonlyMap<string, Observation> | null> {
  try {
    const at = { withinMs: deps.tuning.callTimeoutMs, stop };
    return await ask(deps, at, (signal) => deps.adapter.observe(jobs, signal));
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    if (stop.aborted) return null;
    deps.log.warn({ event: "watch.fault", target: deps.target, jobs: jobs.length, err: error });
    const nothing = { kind: "unknown", why: error.message, gone: false } as const;
    return new Map(jobs.map((job) => [job.id, nothing]));
  }
}

function isWatched(record: TaskRecord): boolean {
  return record.job !== null && dutiesOf(record).some((duty) => duty.kind === "watch");
}

type Looks = {
  readonly seen: ReadonlyMap<string, Observation>;
  readonly atMs: number;
  readonly stop: AbortSignal;
};

async function noteObservation(deps: WorkerDeps, record: TaskRecord, looks: Looks): Promise<void> {
  const { atMs } = looks;
  const observation = record.job === null ? undefined : looks.seen.get(record.job.id);
  if (observation === undefined) return;
  const after = await advance(deps, record, { kind: "observed", observation, atMs });
  if (after === null) return;
  if (hasEnded(after)) return retireJob(deps, after);
  if (isWorse(record, after)) return considerLost(deps, after, looks);
  const expiresAtMs = dueExtension(after, atMs);
  if (expiresAtMs !== null) await advance(deps, after, { kind: "ttl_extended", expiresAtMs, atMs });
}

/** True when this look was one more after which nobody is left to be asked. */
function isWorse(before: TaskRecord, after: TaskRecord): boolean {
  return (after.unseen?.gone?.looks ?? 0) > (before.unseen?.gone?.looks ?? 0);
}
