import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/json.ts";
import { eventually } from "../../support/eventually.ts";
import { type FrontDesk, type FrontDeskOptions, startFrontDesk } from "../../support/front-desk.ts";
import { sawGone, sawQueued, sawRunning, submitted } from "../../support/records.ts";
import { readSse, type Sse } from "../../support/sse.ts";

let desk: FrontDesk;
let streams: Sse[] = [];
beforeEach(() => {
  streams = [];
});
afterEach(async () => {
  for (const stream of streams) stream.close();
  await desk.stop();
});

const LEASED = { kind: "attempt_leased", attempt: 1, leaseUntilMs: 9e12 } as const;
const REJECTED = { kind: "not_submitted", cause: "rejected", reason: "no such partition" } as const;

async function start(options: FrontDeskOptions = {}): Promise<void> {
  desk = await startFrontDesk(options);
}

async function open(params: JsonObject, who: "alice" | "bob" = "alice"): Promise<Sse> {
  const stream = await readSse((signal) => desk.open("tasks/stream", params, { who, signal }));
  streams.push(stream);
  return stream;
}

function seqs(messages: readonly JsonObject[]): unknown[] {
  return messages.map((message) => (message["params"] as JsonObject | undefined)?.["seq"] ?? "result");
}

function manyEvents(count: number, size = 10): { type: string; payload: JsonObject }[] {
  return Array.from({ length: count }, (_, index) => ({
    type: "metric",
    payload: { index, text: "x".repeat(size) },
  }));
}

async function running(): Promise<string> {
  const taskId = await desk.create("run_case");
  await desk.tell(taskId, LEASED, submitted, sawQueued, sawRunning());
  return taskId;
}

test("S2 S3 S9 events go out from seq 0, prefixed, related to their task, then live ones as they come", async () => {
  await start();
  const taskId = await desk.create("run_case");
  const stream = await open({ taskId });
  expect(stream.headers.get("x-accel-buffering")).toBe("no");
  expect(stream.headers.get("content-type")).toMatch(/^text\/event-stream/);
  expect(await stream.next()).toEqual({
    jsonrpc: "2.0",
    method: "notifications/tasks/event",
    params: {
      seq: 0,
      taskId,
      type: "dev.tailrace.task.accepted",
      payload: {
        at: expect.stringMatching(/Z$/),
        tool: "run_case",
        target: "here",
        solver: "generic",
        walltimeSeconds: 60,
      },
      _meta: { "io.modelcontextprotocol/related-task": { taskId } },
    },
  });
  await desk.tell(taskId, LEASED, submitted);
  expect(await stream.next()).toMatchObject({ params: { seq: 1, type: "dev.tailrace.job.submitted" } });
});

test("S5 the last event goes out before the result, and tasks/get shows the end by then", async () => {
  await start();
  const taskId = await desk.create("run_case");
  const stream = await open({ taskId });
  await stream.next();
  await desk.tell(taskId, REJECTED);
  expect(await stream.next()).toMatchObject({ params: { type: "dev.tailrace.task.ended" } });
  expect((await desk.call("tasks/get", { taskId })).result).toMatchObject({ status: "completed" });
  expect(await stream.next()).toMatchObject({ id: 1, result: { resultType: "complete" } });
  expect(await stream.next()).toBeNull();
});

test("S3 S5 an ended task is replayed whole, then from any cursor, then the result at once", async () => {
  await start();
  const taskId = await desk.create("run_case");
  await desk.tell(taskId, REJECTED);
  expect(seqs(await (await open({ taskId })).all())).toEqual([0, 1, "result"]);
  expect(seqs(await (await open({ taskId, after: 0 })).all())).toEqual([1, "result"]);
  expect(seqs(await (await open({ taskId, after: 1 })).all())).toEqual(["result"]);
  expect(seqs(await (await open({ taskId, after: 999 })).all())).toEqual(["result"]);
});

test.each([-1, 1.5, "3", null, 1e300])("S4 after: %j is −32602", async (after) => {
  await start();
  const taskId = await desk.create("run_case");
  expect(await desk.call("tasks/stream", { taskId, after })).toMatchObject({ error: { code: -32602 } });
});

test("S4 a cursor beyond the newest event of a live task is −32602 and names the newest", async () => {
  await start();
  const taskId = await desk.create("run_case");
  expect(await desk.call("tasks/stream", { taskId, after: 7 })).toMatchObject({
    status: 200,
    error: { code: -32602, data: { reason: "invalid_cursor", newestSeq: 0 } },
  });
});

test("S6 a cursor before the events that are kept is −32010 with the earliest; without one the kept ones come", async () => {
  await start({ maxEvents: 3 });
  const taskId = await running();
  await desk.append(taskId, manyEvents(10));
  const { error } = await desk.call("tasks/stream", { taskId, after: 0 });
  const earliestSeq = error.data?.["earliestSeq"] as number;
  expect(error).toMatchObject({ code: -32010, data: { reason: "events_gone", taskId } });
  expect(earliestSeq).toBeGreaterThan(1);
  const rest = await open({ taskId, after: earliestSeq - 1 });
  expect(await rest.next()).toMatchObject({ params: { seq: earliestSeq } });
  const all = await open({ taskId });
  expect(await all.next()).toMatchObject({ params: { seq: earliestSeq } });
});

test("S3 many clients that come at any moment each see every event once and in order", async () => {
  await start({ limits: { streamsPerTask: 40 } });
  const taskId = await running();
  const reading: Promise<JsonObject[]>[] = [];
  for (let round = 0; round < 12; round += 1) {
    reading.push(open({ taskId }).then((stream) => stream.all()));
    reading.push(open({ taskId, after: 1 }).then((stream) => stream.all()));
    await desk.append(taskId, manyEvents(50));
  }
  await desk.tell(taskId, sawGone, { kind: "lost", why: "for the test" });
  const newest = 4 + 12 * 50;
  for (const [index, messages] of (await Promise.all(reading)).entries()) {
    const from = index % 2 === 0 ? 0 : 2;
    const wanted = Array.from({ length: newest - from + 1 }, (_, at) => from + at);
    expect(seqs(messages)).toEqual([...wanted, "result"]);
  }
});

test("S7 S10 streams over the limit of a task and caller are −32602 until one is closed", async () => {
  await start({ limits: { streamsPerTask: 2, streamsPerCaller: 3 } });
  const [one, two] = [await desk.create("run_case"), await desk.create("run_case")];
  const first = await open({ taskId: one });
  await open({ taskId: one });
  const full = await desk.call("tasks/stream", { taskId: one });
  expect(full).toMatchObject({
    status: 429,
    error: { code: -32602, data: { reason: "limit_reached", limit: 2 } },
  });
  await open({ taskId: two });
  expect(await desk.call("tasks/stream", { taskId: two })).toMatchObject({ error: { data: { limit: 3 } } });
  first.close();
  await eventually(async () => {
    const stream = await open({ taskId: one });
    expect(await stream.next()).toMatchObject({ params: { seq: 0 } });
  });
});

test("S8 hanging up ends delivery and leaves the task alone", async () => {
  await start();
  const taskId = await desk.create("run_case");
  const stream = await open({ taskId });
  await stream.next();
  stream.close();
  await desk.tell(taskId, LEASED);
  expect((await desk.call("tasks/get", { taskId })).result).toMatchObject({ status: "working" });
  expect((await desk.store.read(taskId))?.record.cancel).toBeNull();
});

test("S11 a quiet stream is kept open by comments", async () => {
  await start({ sse: { keepAliveMs: 20 } });
  const taskId = await desk.create("run_case");
  const stream = await open({ taskId });
  await stream.next();
  await eventually(() => expect(stream.comments()).toBeGreaterThan(2));
  await desk.tell(taskId, REJECTED);
  expect(await stream.next()).toMatchObject({ params: { seq: 1 } });
});

test("S8 a reader that takes nothing is closed, and resumes with its cursor", async () => {
  await start({ sse: { drainMs: 100 } });
  const taskId = await running();
  for (let batch = 0; batch < 40; batch += 1) await desk.append(taskId, manyEvents(60, 4000));
  await desk.tell(taskId, sawGone, { kind: "lost", why: "for the test" });
  const stream = await open({ taskId });
  const first = await stream.next();
  expect(first).toMatchObject({ params: { seq: 0 } });
  const before = await stream.resumeAfter(1500);
  const last = before.at(-1)?.["params"] as JsonObject;
  expect(before.some((message) => "result" in message)).toBe(false);
  const rest = await (await open({ taskId, after: last["seq"] ?? 0 })).all();
  expect(rest[0]).toMatchObject({ params: { seq: Number(last["seq"]) + 1 } });
  expect(rest.at(-1)).toMatchObject({ result: { resultType: "complete" } });
});

test("C8 when the server stops, open streams end with their result and clients resume elsewhere", async () => {
  await start();
  const taskId = await desk.create("run_case");
  const stream = await open({ taskId });
  await stream.next();
  desk.stopServing();
  expect(await stream.next()).toMatchObject({ result: { resultType: "complete" } });
});

test("an attached reader outlives a restart of the store and misses nothing", async () => {
  await start();
  await desk.stop();
  desk = await startFrontDesk({ redisArgs: ["--appendonly", "yes", "--appendfsync", "always"] });
  const taskId = await desk.create("run_case");
  const stream = await open({ taskId });
  expect(await stream.next()).toMatchObject({ params: { seq: 0 } });
  await desk.redis.restart();
  await eventually(() => desk.tell(taskId, LEASED, submitted));
  expect(await stream.next()).toMatchObject({ params: { seq: 1, type: "dev.tailrace.job.submitted" } });
});
