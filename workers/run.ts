import { type ConnectionOptions, DelayedError, type Job, Queue, Worker } from "bullmq";
import { BridgeError, TailraceError } from "../src/domain/errors.ts";
import { cancelTask } from "./cancel.ts";
import { deliverAnswer } from "./deliver.ts";
import type { WorkerDeps } from "./deps.ts";
import { followTask } from "./follow.ts";
import { QUEUE_KINDS, type QueueJob, type QueueKind, queueName } from "./queues.ts";
import { submitTask } from "./submit.ts";
import { keepUp } from "./upkeep.ts";
import { logUsage } from "./usage.ts";
import { watchTarget } from "./watch.ts";

type Processor = (deps: WorkerDeps, job: Job<QueueJob>, stop: AbortSignal) => Promise<void>;

const PROCESSORS: Readonly<Record<QueueKind, Processor>> = {
  submit: (deps, job, stop) => submitTask(deps, job.data.taskId, stop),
  watch: (deps, _job, stop) => watchTarget(deps, stop),
  follow: (deps, job, stop) => followTask(deps, job.data.taskId, stop),
  cancel: (deps, job, stop) => cancelTask(deps, job.data.taskId, stop),
  deliver: (deps, job, stop) =>
    deliverAnswer(deps, { taskId: job.data.taskId, key: job.data.key ?? "" }, stop),
  upkeep: (deps, _job, stop) => keepUp(deps, stop),
};

/** A worker's crashes never fail a job: BullMQ's default gives up after one. */
const MAX_STALLED = 1_000_000;

type Options = {
  readonly connection: ConnectionOptions;
  readonly prefix: string;
};

export type TargetWorkers = { close(): Promise<void> };

/** Starts the six workers of one target. Queues are hints: whatever they lose, the due-set brings back. */
export async function startTargetWorkers(deps: WorkerDeps, options: Options): Promise<TargetWorkers> {
  // One signal per job: a single one would gather thousands of listeners.
  const active = new Set<AbortController>();
  let stopped = false;
  const concurrency: Readonly<Record<QueueKind, number>> = {
    submit: 4,
    watch: 1,
    follow: deps.tuning.followers,
    cancel: 4,
    deliver: 4,
    upkeep: 1,
  };
  await scheduleTicks(deps, options);
  const workers = QUEUE_KINDS.map((kind) => {
    const work = async (job: Job<QueueJob>, token?: string) => {
      const stopping = new AbortController();
      if (stopped) stopping.abort();
      active.add(stopping);
      try {
        await runJob({ deps, kind, stop: stopping.signal }, job, token);
      } finally {
        active.delete(stopping);
      }
    };
    const worker = new Worker<QueueJob>(queueName(kind, deps.target), work, {
      connection: options.connection,
      prefix: options.prefix,
      concurrency: concurrency[kind],
      lockDuration: deps.tuning.lockMs,
      stalledInterval: deps.tuning.stalledMs,
      maxStalledCount: MAX_STALLED,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
      skipVersionCheck: true,
    });
    worker.on("error", (err) => deps.log.warn({ event: "worker.fault", kind, target: deps.target, err }));
    return worker;
  });
  await Promise.all(workers.map((worker) => worker.waitUntilReady()));
  const stopUsage = logUsage(deps);
  let closing: Promise<void> | null = null;
  return {
    close() {
      stopped = true;
      stopUsage();
      for (const one of active) one.abort();
      closing ??= Promise.all(workers.map((worker) => worker.close())).then(() => undefined);
      return closing;
    },
  };
}

async function scheduleTicks(deps: WorkerDeps, options: Options): Promise<void> {
  const observeMs = Math.max(deps.tuning.observeEveryMs, deps.adapter.limits.minObserveIntervalMs);
  const ticks = [
    ["watch", observeMs],
    ["upkeep", deps.tuning.upkeepEveryMs],
  ] as const;
  for (const [kind, every] of ticks) {
    const queue = new Queue(queueName(kind, deps.target), {
      connection: options.connection,
      prefix: options.prefix,
      skipVersionCheck: true,
      streams: { events: { maxLen: 1000 } },
    });
    queue.on("error", (err) => deps.log.warn({ event: "queue.fault", kind, target: deps.target, err }));
    const template = { name: kind, opts: { removeOnComplete: true, removeOnFail: true } };
    await queue.upsertJobScheduler(kind, { every }, template);
    await queue.close();
  }
}

type Run = { readonly deps: WorkerDeps; readonly kind: QueueKind; readonly stop: AbortSignal };

/**
 * A follower that is told to stop hands its job back at once, so that a deploy costs no stall timeout. Faults of store
 * or scheduler end the processor quietly: the duty is still there.
 */
async function runJob(run: Run, job: Job<QueueJob>, token?: string): Promise<void> {
  const { deps, kind, stop } = run;
  try {
    await PROCESSORS[kind](deps, job, stop);
  } catch (error) {
    const known = error instanceof BridgeError || error instanceof TailraceError;
    if (!known && !stop.aborted) {
      deps.log.error({ event: "worker.error", kind, target: deps.target, err: error });
      throw error;
    }
    deps.log.warn({ event: "worker.retry", kind, target: deps.target, err: error });
  }
  if (stop.aborted && kind === "follow") {
    await job.moveToDelayed(Date.now() + 1, token);
    throw new DelayedError();
  }
}
