import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { createHistory } from "../../adapters/solvers/history.ts";
import type { TaskStore } from "../../src/domain/store.ts";
import { createTaskService, DEFAULT_TASK_LIMITS } from "../../src/tasks/service.ts";
import { ALICE, toolOf } from "../support/front-desk.ts";
import { type Figure, median, round } from "./report.ts";

const ROUNDS = 2_000;

/** p50 of creating a task, all of it, against one durable queue.add on the same server, turn by turn. */
export async function benchCreate(store: TaskStore, connection: Redis): Promise<Figure> {
  const tools = new Map([["run_case", toolOf()]]);
  const service = createTaskService({
    store,
    tools: () => tools,
    instance: "bench",
    hasten: () => undefined,
    readLog: () => Promise.resolve({ bytes: new Uint8Array(), atEnd: true }),
    createHistory,
    limits: DEFAULT_TASK_LIMITS,
  });
  const queue = new Queue("bench", { connection, prefix: "{bench}" });
  const creates: number[] = [];
  const adds: number[] = [];
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    const key = `bench-${turn}`;
    creates.push(
      await timed(() =>
        service.create(ALICE, {
          tool: "run_case",
          arguments: { n: turn, idempotencyKey: key },
          metaKey: undefined,
        }),
      ),
    );
    adds.push(
      await timed(() => queue.add("submit", { taskId: key }, { jobId: key, removeOnComplete: true })),
    );
  }
  await queue.close();
  const [create, add] = [median(creates), median(adds)];
  return {
    what: "create p50 ÷ one durable queue.add",
    value: create / add,
    unit: "×",
    bound: 3,
    rule: "at_most",
    detail: `${round(create)} ms, queue.add ${round(add)} ms`,
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
