import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { startRedis, type TestRedis } from "../../support/redis.ts";
import { createRequest, next, openStore, PROGRESS, sampleRecord } from "../../support/store.ts";

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis(["--cluster-enabled", "yes"]);
  const admin = await redis.connect("worker");
  await admin.cluster("ADDSLOTSRANGE", 0, 16_383);
  await eventually(async () => expect(await admin.cluster("INFO")).toContain("cluster_state:ok"));
  // The server does refuse keys of different slots in one call.
  await expect(admin.mset("a", 1, "b", 2)).rejects.toThrow("CROSSSLOT");
});
afterAll(() => redis.stop());

test("every call stays in one slot, so that a Cluster can hold the store", async () => {
  const { store } = await openStore(redis);
  const record = sampleRecord({ phase: "running", target: "cluster", owner: "a b" });
  const { id, target } = record;
  expect(await store.create(createRequest({ record }))).toEqual({ kind: "created" });
  expect((await store.readMany([id, "t_a", "t_b"])).size).toBe(1);
  expect(await store.takeDue(target, "work", { limit: 5, againInMs: 5 })).toHaveLength(1);
  expect(await store.takeDue(target, "watch", { limit: 5, againInMs: 5 })).toHaveLength(1);
  await store.reschedule(target, [{ member: `watch:${id}`, inMs: 9 }]);
  const state = await store.takeOver(id);
  const flush = { taskId: id, target, life: 0, epoch: state?.epoch ?? -1, from: "", to: "1", snapshot: null };
  const events = [{ type: "note", payload: {} }];
  expect(await store.append({ ...flush, progress: PROGRESS, events, dutyInMs: 5 })).toBe("appended");
  const after = next(record, { phase: "ended", expiresAtMs: 5 });
  expect(await store.commit({ before: record, after, events })).toBe("committed");
  expect(await store.list("a b", 5)).toEqual([id]);
  expect(await store.expired(5)).toEqual([id]);
  expect(await store.purge(id)).toBe("purged");
  await store.close();
});
