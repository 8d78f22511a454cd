import { afterAll, beforeAll, expect, test } from "vitest";
import { dutyMember } from "../../../src/domain/duties.ts";
import { type CreateAnswer, parseEventText } from "../../../src/domain/store.ts";
import { eventually } from "../../support/eventually.ts";
import { startRedis, type TestRedis } from "../../support/redis.ts";
import {
  createRequest,
  newTaskId,
  next,
  type OpenStore,
  openStore,
  SPEC,
  sampleRecord,
  sha256,
} from "../../support/store.ts";

let redis: TestRedis;
let one: OpenStore;
beforeAll(async () => {
  redis = await startRedis();
  one = await openStore(redis);
});
afterAll(() => redis.stop());

/** Ends a task whose time is over at once. */
async function endAndExpire(record: ReturnType<typeof sampleRecord>): Promise<void> {
  const after = next(record, { phase: "ended", endedAtMs: 1, expiresAtMs: 1_700_000_000_001 });
  expect(await one.store.commit({ before: record, after, events: [] })).toBe("committed");
}

test("a created task has its record, spec, event 0 and duty, all by the time create answers", async () => {
  const request = createRequest({ record: sampleRecord({ owner: "carol", target: "fresh" }) });
  expect(await one.store.create(request)).toEqual({ kind: "created" });
  const { id } = request.record;
  expect(await one.store.read(id)).toEqual({ record: request.record, progress: null, nextSeq: 1, epoch: 0 });
  expect(await one.store.readSpec(id)).toEqual(SPEC);
  expect(await one.store.list("carol", 10)).toEqual([id]);
  expect(await one.store.listTarget("fresh", 10)).toEqual([id]);
  const page = await one.store.readEvents(id, null, 10);
  expect(page?.events.map((text, index) => parseEventText(index, text))).toEqual([
    { seq: 0, type: "dev.tailrace.task.accepted", payload: { at: "2023-11-14T22:13:20.000Z" } },
  ]);
  expect(await one.store.takeDue("fresh", "work", { limit: 10, againInMs: 1000 })).toEqual([
    dutyMember(id, { kind: "submit" }),
  ]);
});

test("the same claim with the same arguments answers the first task's id, whoever asks", async () => {
  const first = createRequest();
  await one.store.create(first);
  const again = { ...first, record: sampleRecord() };
  expect(await one.store.create(again)).toEqual({ kind: "existing", taskId: first.record.id });
  expect(await one.store.read(again.record.id)).toBeNull();
});

test("the same claim with other arguments is a conflict, and writes nothing", async () => {
  const first = createRequest();
  await one.store.create(first);
  const other = { ...first, record: sampleRecord({ owner: "dave" }), argsHash: sha256("other") };
  expect(await one.store.create(other)).toEqual({ kind: "conflict" });
  expect(await one.store.list("dave", 10)).toEqual([]);
});

test("200 concurrent creates of one claim over four connections make one task", async () => {
  const stores = [one, await openStore(redis), await openStore(redis), await openStore(redis)];
  const shared = createRequest();
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index): Promise<[string, CreateAnswer]> => {
      const record = sampleRecord({ owner: "crowd" });
      const { store } = stores[index % stores.length] ?? one;
      return [record.id, await store.create({ ...shared, record })];
    }),
  );
  const created = answers.filter(([, answer]) => answer.kind === "created").map(([id]) => id);
  expect(created).toHaveLength(1);
  const ids = answers.flatMap(([, answer]) => (answer.kind === "existing" ? [answer.taskId] : []));
  expect(ids).toHaveLength(199);
  expect(new Set([...created, ...ids]).size).toBe(1);
  expect(await one.store.list("crowd", 10)).toEqual(created);
});

test("a claim with a window is free again once the window, counted from the claim, is over", async () => {
  const first = createRequest({ claimWindowMs: 300 });
  await one.store.create(first);
  const again = () => one.store.create({ ...first, record: sampleRecord(), argsHash: sha256("later") });
  expect(await again()).toEqual({ kind: "conflict" });
  await eventually(async () => expect(await again()).toEqual({ kind: "created" }));
  expect(await again()).toEqual({ kind: "existing", taskId: expect.not.stringContaining(first.record.id) });
});

test("a claim whose task has expired answers when it did, before and after the purge", async () => {
  const request = createRequest();
  await one.store.create(request);
  await endAndExpire(request.record);
  const answer = { kind: "expired", expiredAtMs: 1_700_000_000_001 };
  expect(await one.store.create({ ...request, record: sampleRecord() })).toEqual(answer);
  expect(await one.store.purge(request.record.id)).toBe("purged");
  expect(await one.store.create({ ...request, record: sampleRecord() })).toEqual(answer);
});

test("a tombstone frees its claim when claimTtlMs is over", async () => {
  const { store } = await openStore(redis, { claimTtlMs: 200 });
  const request = createRequest();
  await store.create(request);
  await endAndExpire(request.record);
  await store.purge(request.record.id);
  const again = () => store.create({ ...request, record: sampleRecord() });
  expect(await again()).toMatchObject({ kind: "expired" });
  await eventually(async () => expect(await again()).toEqual({ kind: "created" }));
});

test("a tombstone in a window frees its claim when the window is over, even with a long claimTtlMs", async () => {
  const request = createRequest({ claimWindowMs: 300 });
  await one.store.create(request);
  await endAndExpire(request.record);
  await one.store.purge(request.record.id);
  const again = () => one.store.create({ ...request, record: sampleRecord() });
  await eventually(async () => expect(await again()).toEqual({ kind: "created" }));
});

test("the purge of a task whose claim went to a newer one leaves the newer one's claim alone", async () => {
  const old = createRequest({ claimWindowMs: 1 });
  await one.store.create(old);
  const newer = { ...old, record: sampleRecord(), claimWindowMs: null };
  await eventually(async () => expect(await one.store.create(newer)).toEqual({ kind: "created" }));
  await endAndExpire(old.record);
  expect(await one.store.purge(old.record.id)).toBe("purged");
  expect(await one.store.create({ ...old, record: sampleRecord() })).toEqual({
    kind: "existing",
    taskId: newer.record.id,
  });
});

test("an id that is taken already is refused, and its task stays as it was", async () => {
  const request = createRequest();
  await one.store.create(request);
  const clash = createRequest({
    record: sampleRecord({ id: request.record.id, owner: "mallory" }),
    claim: sha256("x"),
  });
  await expect(one.store.create(clash)).rejects.toThrow("id of another");
  expect((await one.store.read(request.record.id))?.record.owner).toBe("alice");
  expect(await one.store.create(createRequest({ claim: sha256("x") }))).toEqual({ kind: "created" });
});

test("text survives as it is: quotes, newlines, NUL, other scripts, lone surrogates", async () => {
  const reason = `"'\\\n\u0000\u0001 ünï 日本 🚀 \ud800 $(rm) {"type":"x"}`;
  const record = sampleRecord({ reason, owner: "o:wn er\n" });
  const events = [{ type: "task.accepted", payload: { reason } }];
  await one.store.create(createRequest({ record, events }));
  expect((await one.store.read(record.id))?.record).toEqual(record);
  const page = await one.store.readEvents(record.id, null, 1);
  expect(parseEventText(0, page?.events[0] ?? "").payload).toEqual({ reason });
  expect(await one.store.list("o:wn er\n", 1)).toEqual([record.id]);
});

test("lists come newest first and no longer than asked", async () => {
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    const record = sampleRecord({ owner: "lister" });
    await one.store.create(createRequest({ record }));
    ids.unshift(record.id);
  }
  expect(await one.store.list("lister", 3)).toEqual(ids.slice(0, 3));
  expect(await one.store.list("lister", 0)).toEqual([]);
  expect(await one.store.list(newTaskId(), 5)).toEqual([]);
});
