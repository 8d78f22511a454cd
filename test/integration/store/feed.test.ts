import { once } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createFeed } from "../../../src/store/feed.ts";
import { eventually } from "../../support/eventually.ts";
import { startRedis, type TestRedis } from "../../support/redis.ts";
import {
  createRequest,
  next,
  type OpenStore,
  openStore,
  PROGRESS,
  sampleRecord,
} from "../../support/store.ts";

let redis: TestRedis;
let writer: OpenStore;
let reader: OpenStore;
beforeEach(async () => {
  redis = await startRedis();
  writer = await openStore(redis);
  reader = await openStore(redis, { safetyNetMs: 600_000 });
});
afterEach(() => redis.stop());

async function created() {
  const record = sampleRecord({ phase: "running" });
  await writer.store.create(createRequest({ record }));
  return record;
}

test("each change of a task calls its watchers in another process, and only those", async () => {
  const [record, other] = [await created(), await created()];
  const [mine, twin, others] = [vi.fn(), vi.fn(), vi.fn()];
  const calls = () => [mine, twin, others].map(({ mock }) => mock.calls.length);
  const unwatch = await reader.store.watchTask(record.id, mine);
  await reader.store.watchTask(record.id, twin);
  await reader.store.watchTask(other.id, others);
  const after = next(record, { reason: "busy" });
  await writer.store.commit({ before: record, after, events: [] });
  await eventually(() => expect(calls()).toEqual([1, 1, 0]));

  const state = await writer.store.takeOver(record.id);
  const flush = {
    taskId: record.id,
    target: record.target,
    life: 0,
    epoch: state?.epoch ?? -1,
    snapshot: null,
  };
  const events = [{ type: "note", payload: {} }];
  await writer.store.append({ ...flush, from: "", to: "1", progress: PROGRESS, events, dutyInMs: 1000 });
  await eventually(() => expect(calls()).toEqual([2, 2, 0]));

  unwatch();
  unwatch();
  // Neither events nor other progress: nobody is woken. The commit after it shows that its nudge would have come.
  await writer.store.append({ ...flush, from: "1", to: "2", progress: PROGRESS, events: [], dutyInMs: 1000 });
  await writer.store.commit({ before: after, after: next(after, {}), events: [] });
  await eventually(() => expect(calls()).toEqual([2, 3, 0]));
});

test("after a restart of Redis everybody is called back, and nudges come again", async () => {
  await redis.stop();
  redis = await startRedis(["--appendonly", "yes", "--appendfsync", "always"]);
  writer = await openStore(redis);
  reader = await openStore(redis, { safetyNetMs: 600_000 });
  const record = await created();
  const called = vi.fn();
  await reader.store.watchTask(record.id, called);
  await redis.kill();
  const ready = Promise.all([once(reader.subscriber, "ready"), once(writer.commands, "ready")]);
  await redis.restart();
  await ready;
  await eventually(() => expect(called).toHaveBeenCalledTimes(1), 3000);
  await writer.store.commit({ before: record, after: next(record, {}), events: [] });
  await eventually(() => expect(called).toHaveBeenCalledTimes(2), 3000);
});

test("a nudge that was never heard is made up for by the safety net", async () => {
  const feed = createFeed(await redis.connect("subscriber"), "{tr}:another-channel", 50);
  const called = vi.fn();
  await feed.watch("t_quiet", called);
  await eventually(() => expect(called.mock.calls.length).toBeGreaterThan(1));
  feed.close();
});

test("watching while Redis hangs fails in time, and works once it is back", async () => {
  redis.pause();
  const called = vi.fn();
  const started = Date.now();
  const watching = reader.store.watchTask("t_x", called);
  await expect(watching).rejects.toMatchObject({ code: "store_unavailable" });
  expect(Date.now() - started).toBeLessThan(2500);
  redis.resume();
  await eventually(() => reader.store.watchTask("t_x", called));
  await writer.commands.publish("{tr}:nudge", "t_x");
  await eventually(() => expect(called).toHaveBeenCalledTimes(1));
});

test("closing twice is safe, and nothing is heard afterwards", async () => {
  const record = await created();
  const called = vi.fn();
  await reader.store.watchTask(record.id, called);
  await reader.store.close();
  await reader.store.close();
  await writer.store.commit({ before: record, after: next(record, {}), events: [] });
  expect(called).not.toHaveBeenCalled();
  expect([reader.commands.status, reader.subscriber.status]).toEqual(["end", "end"]);
  await expect(reader.store.read(record.id)).rejects.toMatchObject({ code: "store_unavailable" });
});
