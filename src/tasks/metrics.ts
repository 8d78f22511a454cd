import type { JobSpec } from "../domain/adapter.ts";
import { TailraceError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Principal } from "../domain/principal.ts";
import type { TaskStore } from "../domain/store.ts";
import type { TaskRecord } from "../domain/task.ts";
import type { HistoryFactory } from "../domain/translator.ts";
import { outOfReach, type ReadLog } from "./log.ts";
import { readOwned } from "./owned.ts";

export type MetricsRequest = {
  readonly taskId: string;
  /** One field or metric alone; null: all. */
  readonly only: string | null;
  readonly signal: AbortSignal;
};

export type MetricsDeps = {
  readonly store: Pick<TaskStore, "read" | "readSpec">;
  readonly readLog: ReadLog;
  readonly createHistory: HistoryFactory;
  readonly queue: MetricsQueue;
};

const CHUNK_BYTES = 256 * 1024;
const MAX_BYTES = 128 * 1024 * 1024;
/** Reading a log again costs time that other callers wait for. */
const MAX_MS = 10_000;

/**
 * The newest values of the caller's task, and the history of its residuals and metrics, read anew from the log: events
 * are merged, the log is whole. `complete` is false while the job writes, and when the log is longer than is read at once;
 * a log out of reach leaves `history` null and says why.
 */
export async function readTaskMetrics(
  deps: MetricsDeps,
  caller: Principal,
  request: MetricsRequest,
): Promise<JsonObject> {
  const { record, progress } = await readOwned(deps.store, caller, request.taskId);
  const { text, current, total, unit, etaSeconds } = progress ?? NO_PROGRESS;
  const newest = {
    ended: record.phase === "ended",
    progress: { text, current, total, unit, etaSeconds: record.phase === "running" ? etaSeconds : null },
    metrics: record.result?.metrics ?? progress?.metrics ?? {},
  };
  const spec = await deps.store.readSpec(record.id);
  if (record.job === null || spec === null) return { ...newest, history: null };
  try {
    return { ...newest, history: await deps.queue(() => readHistory(deps, { record, spec }, request)) };
  } catch (error) {
    const fault = outOfReach(record.target, error);
    if (!(fault instanceof TailraceError) || fault.code !== "target_unavailable") throw fault;
    return { ...newest, history: null, problem: fault.message };
  }
}

const NO_PROGRESS = { text: null, current: null, total: null, unit: null, etaSeconds: null };

async function readHistory(
  deps: MetricsDeps,
  { record, spec }: { readonly record: TaskRecord; readonly spec: JobSpec },
  { only, signal }: MetricsRequest,
): Promise<JsonObject> {
  const { total, unit } = spec.progress;
  const history = deps.createHistory({ solver: spec.solver, total: total ?? null, unit: unit ?? null, only });
  const deadlineMs = performance.now() + MAX_MS;
  let bytes = 0;
  let isWhole = true;
  for (const source of ["stdout", "stderr"] as const) {
    let offset = 0;
    for (let atEnd = false; !atEnd; ) {
      signal.throwIfAborted();
      if (bytes >= MAX_BYTES || performance.now() > deadlineMs) {
        isWhole = false;
        break;
      }
      const chunk = await deps.readLog(record, source, { offset, maxBytes: CHUNK_BYTES });
      atEnd = chunk.atEnd || chunk.bytes.length === 0;
      history.feed(source, chunk.bytes, { isEnd: atEnd && record.phase === "ended" });
      offset += chunk.bytes.length;
      bytes += chunk.bytes.length;
    }
  }
  return { complete: isWhole && record.phase === "ended", bytes, ...history.toJson() };
}

/** Runs readers of histories one after the other. */
export type MetricsQueue = <T>(read: () => Promise<T>) => Promise<T>;

const MAX_WAITING = 16;

/** One history at a time: each keeps a core busy that serves everybody else. */
export function createMetricsQueue(): MetricsQueue {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (read) => {
    if (waiting >= MAX_WAITING) {
      throw new TailraceError("limit_reached", "Too many metrics are being read just now; try again.");
    }
    waiting += 1;
    const turn = last.then(read);
    last = turn.catch(() => undefined); // the next one's turn comes either way
    try {
      return await turn;
    } finally {
      waiting -= 1;
    }
  };
}
