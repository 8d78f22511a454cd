import { afterAll, beforeAll, expect, test } from "vitest";
import type { TaskRecord } from "../../../src/domain/task.ts";
import { startRedis, type TestRedis } from "../../support/redis.ts";
import { createRequest, next, type OpenStore, openStore, sampleRecord } from "../../support/store.ts";

let redis: TestRedis;
let one: OpenStore;
beforeAll(async () => {
  redis = await startRedis();
  one = await openStore(redis);
});
afterAll(() => redis.stop());

async function created(fields: Partial<TaskRecord> = {}): Promise<TaskRecord> {
  const record = sampleRecord(fields);
  await one.store.create(createRequest({ record }));
  return record;
}

const EVENT = { type: "task.status", payload: { at: "now" } };

test("a commit changes record, doc, events and next seq together", async () => {
  const before = await created();
  const after = next(before, { phase: "submitting", attempt: 1 });
  expect(await one.store.commit({ before, after, events: [EVENT, EVENT] })).toBe("committed");
  expect(await one.store.read(before.id)).toEqual({ record: after, progress: null, nextSeq: 3, epoch: 0 });
  const glance = await one.store.glance(before.id);
  expect(glance).toMatchObject({ owner: "alice", ended: false, doc: '{"phase":"submitting","rev":1}' });
  expect(glance?.progress).toBeNull();
  expect((await one.store.readEvents(before.id, 0, 10))?.events).toHaveLength(2);
});

test("of many writers with one phaseRev exactly one commits, and only its events exist", async () => {
  const before = await created();
  const other = await openStore(redis);
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      [one, other][index % 2]?.store.commit({
        before,
        after: next(before, { reason: `writer ${index}` }),
        events: [{ type: "task.status", payload: { writer: index } }],
      }),
    ),
  );
  expect(answers.filter((answer) => answer === "committed")).toHaveLength(1);
  expect(answers.filter((answer) => answer === "stale")).toHaveLength(39);
  const stored = await one.store.read(before.id);
  const winner = answers.indexOf("committed");
  expect(stored).toMatchObject({ nextSeq: 2, record: { reason: `writer ${winner}`, phaseRev: 1 } });
  const page = await one.store.readEvents(before.id, 0, 10);
  expect(page?.events).toEqual([`"type":"dev.tailrace.task.status","payload":{"writer":${winner}}`]);
});

test("a commit with an old epoch is stale, with the newest it goes through", async () => {
  const before = await created({ phase: "running" });
  const follower = await one.store.takeOver(before.id);
  const newer = await one.store.takeOver(before.id);
  expect([follower?.epoch, newer?.epoch]).toEqual([1, 2]);
  const after = next(before, { reason: "drained" });
  expect(await one.store.commit({ before, after, events: [EVENT], epoch: 1 })).toBe("stale");
  expect((await one.store.read(before.id))?.nextSeq).toBe(1);
  expect(await one.store.commit({ before, after, events: [EVENT], epoch: 2 })).toBe("committed");
});

test("nothing is written after the end, not even a longer ttl", async () => {
  const before = await created();
  const ended = next(before, { phase: "ended", endedAtMs: before.createdAtMs });
  expect(await one.store.commit({ before, after: ended, events: [EVENT] })).toBe("committed");
  const longer = next(ended, { expiresAtMs: ended.expiresAtMs + 1 });
  expect(await one.store.commit({ before: ended, after: longer, events: [EVENT] })).toBe("stale");
  expect(await one.store.read(before.id)).toEqual({ record: ended, progress: null, nextSeq: 2, epoch: 0 });
});

test("a reader of the last event finds the task ended", async () => {
  const reader = await openStore(redis);
  for (let round = 0; round < 20; round += 1) {
    const before = await created();
    const after = next(before, { phase: "ended", endedAtMs: 1 });
    const commit = one.store.commit({ before, after, events: [{ type: "task.ended", payload: {} }] });
    for (;;) {
      const page = await reader.store.readEvents(before.id, 0, 10);
      if (page?.events.length === 0) continue;
      expect(page?.ended).toBe(true);
      expect(await reader.store.glance(before.id)).toMatchObject({
        ended: true,
        doc: '{"phase":"ended","rev":1}',
      });
      break;
    }
    await commit;
  }
});

test("a task that never was is gone to a commit, and null to every read", async () => {
  const record = sampleRecord();
  expect(await one.store.commit({ before: record, after: next(record, {}), events: [] })).toBe("gone");
  expect(await one.store.read(record.id)).toBeNull();
  expect(await one.store.glance(record.id)).toBeNull();
  expect(await one.store.readSpec(record.id)).toBeNull();
  expect(await one.store.readEvents(record.id, null, 10)).toBeNull();
  expect(await one.store.takeOver(record.id)).toBeNull();
});

test("a living task whose time has passed stays readable and can still end", async () => {
  const before = await created({ phase: "running", expiresAtMs: 1 });
  expect((await one.store.read(before.id))?.record).toEqual(before);
  expect(await one.store.expired(100)).not.toContain(before.id);
  expect(await one.store.purge(before.id)).toBe("alive");
  const after = next(before, { phase: "ended", expiresAtMs: 4_000_000_000_000 });
  expect(await one.store.commit({ before, after, events: [EVENT] })).toBe("committed");
});

test("readMany answers for the ids that exist, in batches of any size", async () => {
  const records = await Promise.all(Array.from({ length: 250 }, () => created({ owner: "many" })));
  const found = await one.store.readMany([...records.map(({ id }) => id), "t_nobody"]);
  expect(found.size).toBe(250);
  for (const record of records) expect(found.get(record.id)).toEqual(record);
  expect(await one.store.readMany([])).toEqual(new Map());
});

test("a record that another version wrote is a clear store_mismatch, while glance goes on", async () => {
  const record = await created();
  await one.commands.hset(`{tr}:t:${record.id}`, "rec", JSON.stringify({ ...record, phase: "dancing" }));
  const mismatch = { code: "store_mismatch", message: expect.stringContaining("phase") };
  await expect(one.store.read(record.id)).rejects.toMatchObject(mismatch);
  await expect(one.store.readMany([record.id])).rejects.toMatchObject(mismatch);
  await one.commands.hset(`{tr}:t:${record.id}`, "rec", "{half");
  await expect(one.store.takeOver(record.id)).rejects.toMatchObject({
    code: "store_mismatch",
    message: expect.stringContaining("no JSON"),
  });
  expect(await one.store.glance(record.id)).toMatchObject({ ended: false });
});

test("now is the server's clock in ms", async () => {
  const [seconds] = await one.commands.time();
  const now = await one.store.now();
  expect(Math.abs(now - Number(seconds) * 1000)).toBeLessThan(2000);
  expect(Number.isInteger(now)).toBe(true);
});
