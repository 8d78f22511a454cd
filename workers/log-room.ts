import type { LogChunk, LogRequest } from "../src/domain/adapter.ts";

/**
 * The one reader of logs per process and target: followers leave their requests here, and all that are due go to the
 * target in one readLogs call, so that a file system or an ssh connection sees one reader, not one per task.
 */
export type LogRoom = {
  /** Resolves with one chunk per request, not before `inMs`. Rejects as readLogs does, or when the signal fires. */
  read(requests: readonly LogRequest[], inMs: number, signal: AbortSignal): Promise<LogChunk[]>;
};

type Waiting = {
  readonly requests: readonly LogRequest[];
  readonly dueMs: number;
  readonly resolve: (chunks: LogChunk[]) => void;
  readonly reject: (error: unknown) => void;
};

type Options = {
  /** The adapter's, with a deadline: it must settle. */
  readonly readLogs: (requests: readonly LogRequest[]) => Promise<LogChunk[]>;
  /** A monotonic clock in ms. */
  readonly clock: () => number;
  /** Requests wait at most this long for others to share the call, in ms. */
  readonly gatherMs: number;
};

const BATCH = 256;

export function createLogRoom(options: Options): LogRoom {
  const waiting = new Set<Waiting>();
  let timer: NodeJS.Timeout | null = null;
  let wakeMs = Number.POSITIVE_INFINITY;

  const arm = () => {
    const nextMs = Math.min(...[...waiting].map((one) => one.dueMs));
    if (waiting.size === 0 || (timer !== null && wakeMs <= nextMs)) return;
    if (timer !== null) clearTimeout(timer);
    wakeMs = nextMs;
    timer = setTimeout(serve, Math.max(nextMs - options.clock(), options.gatherMs));
  };

  const serve = () => {
    timer = null;
    wakeMs = Number.POSITIVE_INFINITY;
    const nowMs = options.clock();
    const due = [...waiting].filter((one) => one.dueMs <= nowMs + options.gatherMs);
    for (let start = 0; start < due.length; start += BATCH) {
      const batch = due.slice(start, start + BATCH);
      for (const one of batch) waiting.delete(one);
      void answer(batch, options);
    }
    arm();
  };

  return {
    read(requests, inMs, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const dueMs = options.clock() + inMs;
        const forget = () => signal.removeEventListener("abort", abandon);
        const settled = <T>(settle: (value: T) => void) => {
          return (value: T) => {
            forget();
            settle(value);
          };
        };
        const one: Waiting = { requests, dueMs, resolve: settled(resolve), reject: settled(reject) };
        const abandon = () => {
          waiting.delete(one);
          reject(signal.reason);
        };
        signal.addEventListener("abort", abandon, { once: true });
        waiting.add(one);
        arm();
      });
    },
  };
}

async function answer(batch: readonly Waiting[], options: Options): Promise<void> {
  try {
    const requests = batch.flatMap((one) => one.requests);
    const chunks = await options.readLogs(requests);
    let taken = 0;
    for (const one of batch) {
      one.resolve(chunks.slice(taken, taken + one.requests.length));
      taken += one.requests.length;
    }
  } catch (error) {
    for (const one of batch) one.reject(error);
  }
}
