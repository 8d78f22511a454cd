import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { createAdapter } from "../../adapters/registry.ts";
import { createPipeline } from "../../adapters/solvers/pipeline.ts";
import { createResultCheck } from "../../src/config/check-result.ts";
import type { JobSpec, SchedulerAdapter } from "../../src/domain/adapter.ts";
import type { TaskStore } from "../../src/domain/store.ts";
import { Tuning } from "../../src/domain/tuning.ts";
import { markOf, newTaskId } from "../../src/tasks/identity.ts";
import type { WorkerDeps } from "../../workers/deps.ts";
import { createLogRoom } from "../../workers/log-room.ts";
import { startRedis } from "./redis.ts";
import { removeTree } from "./remove-tree.ts";
import { createRequest, openStore, SPEC, sampleRecord } from "./store.ts";
import { QUICK } from "./world.ts";

/** One target's worker functions without queues: a test calls them in the order it wants to prove something about. */
export type Bench = {
  readonly store: TaskStore;
  readonly adapter: SchedulerAdapter;
  readonly dir: string;
  /** Worker deps, with parts of the adapter replaced by faulty ones. */
  deps(faults?: Partial<SchedulerAdapter>, tuning?: Partial<Tuning>): WorkerDeps;
  /** Accepts a task whose script appends a line to `starts`. */
  accept(script?: string): Promise<string>;
  starts(): number;
  stop(): Promise<void>;
};

export const GO_ON = new AbortController().signal;

export async function startBench(): Promise<Bench> {
  const redis = await startRedis();
  const { store } = await openStore(redis);
  const dir = mkdtempSync(join(tmpdir(), "tr-bench-"));
  const context = { target: "here", stateDir: dir, instance: "test", defaults: {} };
  const config = { scheduler: "local", maxConcurrent: 4, graceSeconds: 1 };
  const adapter = createAdapter(config, context);
  const startsFile = join(dir, "starts");
  return {
    store,
    adapter,
    dir,
    deps(faults = {}, tuning = {}) {
      const readLogs = faults.readLogs ?? adapter.readLogs;
      return {
        target: "here",
        store,
        adapter: { ...adapter, ...faults },
        hasten: () => undefined,
        createPipeline,
        checkResult: createResultCheck(),
        logs: createLogRoom({
          readLogs: (requests) => readLogs(requests, AbortSignal.timeout(5_000)),
          clock: () => performance.now(),
          gatherMs: 5,
        }),
        tuning: Tuning.parse({ ...QUICK, submitTimeoutMs: 2_000, leaseMarginMs: 100, ...tuning }),
        log: pino({ level: "silent" }),
      };
    },
    async accept(script = "true") {
      const id = newTaskId();
      const text = `echo "start" >> ${startsFile}\n${script}\n`;
      const spec: JobSpec = {
        ...SPEC,
        run: { kind: "script", name: "job.sh", text, sha256: "0".repeat(64) },
      };
      const record = sampleRecord({
        id,
        mark: markOf("test", { owner: "alice", tool: "demo", token: id }),
        createdAtMs: await store.now(),
      });
      const answer = await store.create(createRequest({ record, spec }));
      if (answer.kind !== "created") throw new Error(answer.kind);
      return id;
    },
    starts: () => {
      try {
        return readFileSync(startsFile, "utf8").split("\n").filter(Boolean).length;
      } catch {
        return 0; // no job has started yet
      }
    },
    async stop() {
      await adapter.close();
      await store.close();
      await redis.stop();
      removeTree(dir);
    },
  };
}
