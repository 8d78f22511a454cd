import type { Redis } from "ioredis";
import type { TaskStore } from "../../src/domain/store.ts";
import { envelope } from "../support/front-desk.ts";
import { PROGRESS } from "../support/store.ts";
import type { DeskProcess } from "./desk-process.ts";
import { type OpenStream, openStream } from "./open-stream.ts";
import { type Figure, quantile, round } from "./report.ts";

const STREAMS = 200;
const MANY_STREAMS = 600;
const APPENDS = 1_500;

/** How long an appended event takes to its client with 200 streams open, against one PUBLISH round trip. */
export async function benchStreams(
  desk: DeskProcess,
  store: TaskStore,
  given: { readonly taskIds: readonly string[]; readonly publisher: Redis; readonly subscriber: Redis },
): Promise<Figure[]> {
  const taskIds = given.taskIds.slice(0, STREAMS);
  const streams = await Promise.all(taskIds.map((taskId) => openStream(desk.port, body(taskId), taskId)));
  await Promise.all(streams.map((stream) => stream.opened));
  const cursors = new Map<string, { epoch: number; cursor: number }>();
  for (const taskId of taskIds) {
    const state = await store.takeOver(taskId);
    cursors.set(taskId, { epoch: state?.epoch ?? 0, cursor: 0 });
  }
  const published = await startEcho(given.publisher, given.subscriber);
  const deliveries: number[] = [];
  const trips: number[] = [];
  for (let turn = 0; turn < APPENDS; turn += 1) {
    const stream = streams[turn % STREAMS];
    const at = cursors.get(stream?.taskId ?? "");
    if (stream === undefined || at === undefined) throw new Error("no stream");
    deliveries.push(await deliver(store, stream, at));
    trips.push(await published.trip(String(turn)));
  }
  const [ours, theirs] = [quantile(deliveries, 0.99), quantile(trips, 0.99)];
  const memory = await benchStreamMemory(desk, given.taskIds);
  for (const stream of streams) stream.close();
  return [
    {
      what: "append → client p99 with 200 streams ÷ PUBLISH round trip p99",
      value: ours / theirs,
      unit: "×",
      bound: 5,
      rule: "at_most",
      detail: `${round(ours)} ms (p50 ${round(quantile(deliveries, 0.5))}), PUBLISH ${round(theirs)} ms (p50 ${round(quantile(trips, 0.5))})`,
    },
    memory,
  ];
}

async function benchStreamMemory(desk: DeskProcess, taskIds: readonly string[]): Promise<Figure> {
  const open = async (count: number) => {
    const streams = await Promise.all(
      Array.from({ length: count }, (_, index) => {
        const taskId = taskIds[index % taskIds.length] ?? "";
        return openStream(desk.port, body(taskId), taskId);
      }),
    );
    await Promise.all(streams.map((stream) => stream.opened));
    return streams;
  };
  const before = await desk.measure();
  const streams = await open(MANY_STREAMS);
  const after = await desk.measure();
  for (const stream of streams) stream.close();
  const perStream = (after.heldBytes - before.heldBytes) / MANY_STREAMS / 1024;
  return {
    what: "memory per open stream",
    value: Math.max(perStream, 0),
    unit: "KiB",
    bound: 32,
    rule: "at_most",
    detail: `heap and buffers of the server after a collection, ${MANY_STREAMS} streams`,
  };
}

function body(taskId: string): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tasks/stream",
    params: { taskId, _meta: envelope() },
  });
}

async function deliver(
  store: TaskStore,
  stream: OpenStream,
  at: { epoch: number; cursor: number },
): Promise<number> {
  const heard = stream.next();
  const started = performance.now();
  const from = at.cursor === 0 ? "" : String(at.cursor);
  at.cursor += 1;
  const answer = await store.append({
    taskId: stream.taskId,
    target: "here",
    life: 0,
    epoch: at.epoch,
    from,
    to: String(at.cursor),
    snapshot: null,
    progress: PROGRESS,
    events: [{ type: "solver.residual", payload: { field: "p", value: 1e-4, step: at.cursor } }],
    dutyInMs: 60_000,
  });
  if (answer !== "appended") throw new Error(`append: ${answer}`);
  return (await heard) - started;
}

async function startEcho(publisher: Redis, subscriber: Redis) {
  let wake: (atMs: number) => void = () => undefined;
  await subscriber.subscribe("bench-echo");
  subscriber.on("message", () => wake(performance.now()));
  return {
    async trip(text: string): Promise<number> {
      const heard = new Promise<number>((resolve) => {
        wake = resolve;
      });
      const started = performance.now();
      await publisher.publish("bench-echo", text);
      return (await heard) - started;
    },
  };
}
