import type { LogChunk, LogCursor, LogSource } from "../src/domain/adapter.ts";
import { insist } from "../src/domain/advance.ts";
import { BridgeError } from "../src/domain/errors.ts";
import type { FollowState } from "../src/domain/store.ts";
import { fingerprint, hasEnded, type TaskRecord } from "../src/domain/task.ts";
import { conclude } from "./conclude.ts";
import { parseCursors, SOURCES } from "./cursors.ts";
import { pause, type WorkerDeps } from "./deps.ts";
import type { Following } from "./following.ts";
import { retireJob } from "./retire.ts";

const READ_BYTES = 256 * 1024;
/** Events held back before a flush is due anyway. */
const FLUSH_EVENTS = 200;

/**
 * Reads a job's logs while it runs, turns them into events, and ends the task when the job has ended and its logs are
 * drained. Owns nothing: cursor, translator state and events are written together, fenced by the epoch it took, so a
 * successor goes on exactly where the last write left off. Returns when there is nothing left to do or another follower
 * has taken over.
 */
export async function followTask(deps: WorkerDeps, taskId: string, stop: AbortSignal): Promise<void> {
  for (;;) {
    const state = await deps.store.takeOver(taskId);
    if (state === null) return;
    // Also for a predecessor that died between the end and this.
    if (hasEnded(state.record)) return retireJob(deps, state.record);
    if (!isFollowed(state.record)) return;
    const follow = begin(deps, state);
    if ((await followOn(deps, follow, stop)) === "over" || stop.aborted) return;
    // Refused although nobody else follows: a write that was applied lost its answer. Go on from what is stored.
    const stored = await deps.store.read(taskId);
    if (stored === null || stored.epoch !== follow.epoch) return;
  }
}

async function followOn(deps: WorkerDeps, follow: Following, stop: AbortSignal): Promise<"over" | "fenced"> {
  const taskId = follow.record.id;
  let changed = true;
  const unwatch = await deps.store.watchTask(taskId, () => {
    changed = true;
  });
  try {
    let waitMs = 0;
    while (!stop.aborted) {
      if (changed) {
        changed = false;
        const stored = await deps.store.read(taskId);
        if (stored === null || !isFollowed(stored.record)) return "over";
        follow.record = stored.record;
      }
      const chunks = await readChunks(deps, follow, { waitMs, stop });
      if (chunks === null) {
        waitMs = deps.tuning.quietReadMs;
        if (!(await isOverdue(deps, follow))) continue;
        const logProblem = "the log could not be read to its end";
        if ((await conclude(deps, follow, { stop, logProblem })) === "done") return "over";
        changed = true;
        continue;
      }
      const grew = await absorb(deps, follow, chunks);
      if (!(await flush(deps, follow, "when_due"))) return "fenced";
      if (isDrained(deps, follow, chunks)) {
        if (!(await flush(deps, follow, "now"))) return "fenced";
        if ((await conclude(deps, follow, { stop, logProblem: null })) === "done") return "over";
        changed = true;
      }
      waitMs = nextWait(deps, follow, { waitMs, grew, chunks });
    }
    return "over";
  } finally {
    unwatch();
  }
}

function isFollowed(record: TaskRecord): boolean {
  return record.phase === "running" || record.phase === "suspended" || record.phase === "collecting";
}

function begin(deps: WorkerDeps, state: FollowState): Following {
  const { spec } = state;
  const pipeline = deps.createPipeline({
    solver: spec.solver,
    total: spec.progress.total ?? null,
    unit: spec.progress.unit ?? null,
    snapshot: state.snapshot,
  });
  return {
    record: state.record,
    epoch: state.epoch,
    pipeline,
    stored: state.cursor,
    cursors: parseCursors(state.cursor),
    pending: [],
    flushedMs: 0,
    heldMs: 0,
  };
}

/** Null: the target could not be read this time. Its fault never ends a task. */
async function readChunks(
  deps: WorkerDeps,
  follow: Following,
  at: { readonly waitMs: number; readonly stop: AbortSignal },
): Promise<LogChunk[] | null> {
  const { job } = follow.record;
  if (job === null) return null;
  const requests = SOURCES.map((source) => ({
    job,
    source,
    cursor: follow.cursors[source],
    maxBytes: READ_BYTES,
  }));
  try {
    return await deps.logs.read(requests, at.waitMs, at.stop);
  } catch (error) {
    if (at.stop.aborted) return null;
    if (!(error instanceof BridgeError)) throw error;
    deps.log.warn({
      event: "follow.fault",
      target: deps.target,
      task: fingerprint(follow.record.id),
      err: error,
    });
    await pause(deps.tuning.quietReadMs, at.stop);
    return null;
  }
}

async function absorb(deps: WorkerDeps, follow: Following, chunks: readonly LogChunk[]): Promise<boolean> {
  const nowMs = await deps.store.now();
  const next: Record<LogSource, LogCursor | null> = { ...follow.cursors };
  let grew = false;
  for (const [index, source] of SOURCES.entries()) {
    const chunk = chunks[index];
    if (chunk === undefined) continue;
    if (chunk.bytes.length > 0 || chunk.restarted) {
      grew = true;
      follow.pipeline.feed(source, chunk.bytes, { nowMs, restarted: chunk.restarted });
    }
    if (chunk.cursor !== null) next[source] = chunk.cursor;
  }
  follow.cursors = next;
  await recordInputs(deps, follow, nowMs);
  follow.pending.push(...follow.pipeline.take(nowMs, { final: false }));
  follow.heldMs = nowMs;
  return grew;
}

/** The questions in what was read, recorded before the cursor moves past them; one that is recorded already stays. */
async function recordInputs(deps: WorkerDeps, follow: Following, atMs: number): Promise<void> {
  for (const { key, request } of follow.pipeline.inputs()) {
    await insist(deps, follow.record.id, () => ({ kind: "input_requested", key, request, atMs }));
  }
}

/** Writes events, cursor and state in one call. False: another follower, or another life, has taken over. */
async function flush(deps: WorkerDeps, follow: Following, when: "when_due" | "now"): Promise<boolean> {
  const to = JSON.stringify(follow.cursors);
  const sinceMs = follow.heldMs - follow.flushedMs;
  const news = to !== follow.stored || follow.pending.length > 0;
  const due = sinceMs >= deps.tuning.flushMs || follow.pending.length >= FLUSH_EVENTS;
  if (!news || (when === "when_due" && !due)) return keepDuty(deps, follow, sinceMs);
  const answer = await deps.store.append({
    taskId: follow.record.id,
    target: deps.target,
    life: follow.record.life,
    epoch: follow.epoch,
    from: follow.stored,
    to,
    snapshot: follow.pipeline.snapshot(),
    progress: follow.pipeline.progress(),
    events: follow.pending,
    dutyInMs: deps.tuning.dutyMs,
  });
  if (answer !== "appended") return false;
  follow.stored = to;
  follow.pending = [];
  follow.flushedMs = follow.heldMs;
  return true;
}

/** A quiet log still has a follower: its duty is pushed forward so that upkeep leaves it alone. */
async function keepDuty(deps: WorkerDeps, follow: Following, sinceMs: number): Promise<true> {
  if (sinceMs < deps.tuning.dutyMs / 2) return true;
  const member = `follow:${follow.record.id}`;
  await deps.store.reschedule(deps.target, [{ member, inMs: deps.tuning.dutyMs }]);
  follow.flushedMs = follow.heldMs;
  return true;
}

/** All that the job wrote was read: to the byte counts of the exit record, or for as long as a log may be late. */
function isDrained(deps: WorkerDeps, follow: Following, chunks: readonly LogChunk[]): boolean {
  const { record, cursors } = follow;
  if (record.phase !== "collecting" || record.end === null) return false;
  if (!chunks.every((chunk) => chunk.atEnd)) return false;
  const { bytes, kind } = record.end;
  // A script that never began has nothing on its way.
  if (kind === "launch_failed") return true;
  const complete =
    bytes !== null &&
    (cursors.stdout?.offset ?? 0) >= bytes.stdout &&
    (cursors.stderr?.offset ?? 0) >= bytes.stderr;
  const waitedMs = follow.heldMs - (record.collectingAtMs ?? follow.heldMs);
  return complete || waitedMs >= deps.adapter.limits.drainMs;
}

/** The job has ended and its log cannot be read for so long that the task must end without the rest. */
async function isOverdue(deps: WorkerDeps, { record }: Following): Promise<boolean> {
  if (record.phase !== "collecting" || record.collectingAtMs === null) return false;
  return (await deps.store.now()) - record.collectingAtMs > deps.tuning.collectTimeoutMs;
}

function nextWait(
  deps: WorkerDeps,
  follow: Following,
  last: { readonly waitMs: number; readonly grew: boolean; readonly chunks: readonly LogChunk[] },
): number {
  if (last.chunks.some((chunk) => !chunk.atEnd)) return 0;
  const { readMs, quietReadMs } = deps.tuning;
  if (last.grew || follow.record.phase === "collecting") return readMs;
  return Math.min(Math.max(last.waitMs * 2, readMs), quietReadMs);
}
