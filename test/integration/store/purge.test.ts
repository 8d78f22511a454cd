import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { startRedis, type TestRedis } from "../../support/redis.ts";
import { createRequest, next, type OpenStore, openStore, sampleRecord } from "../../support/store.ts";

let redis: TestRedis;
let one: OpenStore;
beforeAll(async () => {
  redis = await startRedis();
  one = await openStore(redis);
});
afterAll(() => redis.stop());

test("a purge leaves nothing but the tombstone, and that only for its time", async () => {
  const { store } = await openStore(redis, { claimTtlMs: 300 });
  const requests = Array.from({ length: 10 }, () =>
    createRequest({ record: sampleRecord({ phase: "running" }) }),
  );
  for (const request of requests) {
    const before = request.record;
    await store.create(request);
    const after = next(before, { phase: "ended", expiresAtMs: 5 });
    await store.commit({ before, after, events: [{ type: "task.ended", payload: {} }] });
  }
  expect((await store.expired(3)).length).toBe(3);
  const expired = await store.expired(100);
  expect(new Set(expired)).toEqual(new Set(requests.map(({ record }) => record.id)));
  for (const id of expired) expect(await store.purge(id)).toBe("purged");
  expect(await store.expired(100)).toEqual([]);
  const keys = await one.commands.keys("*");
  expect(keys.every((key) => key.startsWith("{tr}:i:"))).toBe(true);
  await eventually(async () => expect(await one.commands.keys("*")).toEqual([]));
});

test("a task whose time is over is gone to every reader before it is purged", async () => {
  const record = sampleRecord();
  await one.store.create(createRequest({ record }));
  const after = next(record, { phase: "ended", expiresAtMs: (await one.store.now()) + 200 });
  await one.store.commit({ before: record, after, events: [] });
  expect(await one.store.glance(record.id)).toMatchObject({ ended: true });
  expect(await one.store.purge(record.id)).toBe("alive");
  await eventually(async () => expect(await one.store.glance(record.id)).toBeNull());
  expect(await one.store.read(record.id)).toBeNull();
  expect(await one.store.readSpec(record.id)).toBeNull();
  expect(await one.store.readEvents(record.id, null, 9)).toBeNull();
  expect((await one.store.readMany([record.id])).size).toBe(0);
  expect(await one.store.takeOver(record.id)).toBeNull();
  expect(await one.store.commit({ before: after, after: next(after, {}), events: [] })).toBe("gone");
  expect(await one.store.expired(9)).toEqual([record.id]);
  expect(await one.store.purge(record.id)).toBe("purged");
});

test("a purge of what is not there, or is purged already, says gone", async () => {
  expect(await one.store.purge("t_nobody")).toBe("gone");
  const record = sampleRecord();
  await one.store.create(createRequest({ record }));
  await one.store.commit({
    before: record,
    after: next(record, { phase: "ended", expiresAtMs: 5 }),
    events: [],
  });
  const answers = await Promise.all([one.store.purge(record.id), one.store.purge(record.id)]);
  expect(answers).toEqual(["purged", "gone"]);
});
