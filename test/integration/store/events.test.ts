import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppendRequest, parseEventText } from "../../../src/domain/store.ts";
import type { TaskRecord } from "../../../src/domain/task.ts";
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
let one: OpenStore;
beforeAll(async () => {
  redis = await startRedis();
  one = await openStore(redis);
});
afterAll(() => redis.stop());

async function running(fields: Partial<TaskRecord> = {}): Promise<TaskRecord> {
  const record = sampleRecord({ phase: "running", ...fields });
  await one.store.create(createRequest({ record }));
  return record;
}

function notes(count: number, from = 0) {
  return Array.from({ length: count }, (_, index) => ({ type: "note", payload: { line: from + index } }));
}

function flush(record: TaskRecord, fields: Partial<AppendRequest>): AppendRequest {
  return {
    taskId: record.id,
    target: record.target,
    life: 0,
    epoch: 1,
    from: "",
    to: "10",
    snapshot: { lines: 10 },
    progress: PROGRESS,
    events: notes(2),
    dutyInMs: 60_000,
    ...fields,
  };
}

test("an append brings events, cursor, snapshot and progress together, and takeOver hands them on", async () => {
  const record = await running();
  await one.store.takeOver(record.id);
  expect(await one.store.append(flush(record, {}))).toBe("appended");
  expect(await one.store.read(record.id)).toEqual({ record, progress: PROGRESS, nextSeq: 3, epoch: 1 });
  const glance = await one.store.glance(record.id);
  const { atMs, ...progress } = JSON.parse(glance?.progress ?? "{}");
  expect(progress).toEqual(PROGRESS);
  expect((glance?.nowMs ?? 0) - atMs).toBeLessThan(5000);
  expect(await one.store.takeOver(record.id)).toMatchObject({
    epoch: 2,
    record,
    cursor: "10",
    snapshot: { lines: 10 },
  });
});

test.each<[string, Partial<AppendRequest>]>([
  ["another life", { life: 1 }],
  ["an old epoch", { epoch: 0 }],
  ["an epoch nobody was given", { epoch: 2 }],
  ["an old cursor", { from: "" }],
  ["a cursor ahead", { from: "20" }],
])("%s is fenced, and nothing of it is kept", async (_, fields) => {
  const record = await running();
  await one.store.takeOver(record.id);
  await one.store.append(flush(record, { to: "10" }));
  const before = await one.store.read(record.id);
  const overlapping = flush(record, { from: "10", to: "30", events: notes(3, 1), snapshot: 1, ...fields });
  expect(await one.store.append({ ...overlapping, progress: { ...PROGRESS, text: "no" } })).toBe("fenced");
  expect(await one.store.read(record.id)).toEqual(before);
  expect(await one.store.takeOver(record.id)).toMatchObject({ cursor: "10", snapshot: { lines: 10 } });
});

test("an append after the end is fenced, and one to no task is gone", async () => {
  const record = await running();
  await one.store.takeOver(record.id);
  await one.store.commit({ before: record, after: next(record, { phase: "ended" }), events: [] });
  expect(await one.store.append(flush(record, {}))).toBe("fenced");
  expect(await one.store.append(flush(sampleRecord(), {}))).toBe("gone");
});

test("a repeated append whose reply was lost is fenced and doubles nothing", async () => {
  const record = await running();
  await one.store.takeOver(record.id);
  expect(await one.store.append(flush(record, {}))).toBe("appended");
  expect(await one.store.append(flush(record, {}))).toBe("fenced");
  expect((await one.store.read(record.id))?.nextSeq).toBe(3);
});

test("thousands of events fit one append", async () => {
  const record = await running();
  await one.store.takeOver(record.id);
  expect(await one.store.append(flush(record, { events: notes(12_345) }))).toBe("appended");
  const page = await one.store.readEvents(record.id, 12_343, 10);
  expect(page).toMatchObject({ firstSeq: 12_344, nextSeq: 12_346, earliestSeq: 0 });
  expect(page?.events.map((text) => parseEventText(0, text).payload)).toEqual([
    { line: 12_343 },
    { line: 12_344 },
  ]);
});

test("pages begin after the cursor, whichever place it names", async () => {
  const record = await running();
  await one.store.takeOver(record.id);
  await one.store.append(flush(record, { events: notes(9) }));
  const page = async (after: number | null, limit = 100) => {
    const found = await one.store.readEvents(record.id, after, limit);
    return [
      found?.firstSeq,
      found?.events.length,
      found?.earliestSeq,
      found?.nextSeq,
      found?.ended,
      found?.owner,
    ];
  };
  const rest = [0, 10, false, "alice"];
  expect(await page(null)).toEqual([0, 10, ...rest]);
  expect(await page(-1)).toEqual([0, 10, ...rest]);
  expect(await page(-7)).toEqual([0, 10, ...rest]);
  expect(await page(0)).toEqual([1, 9, ...rest]);
  expect(await page(3, 2)).toEqual([4, 2, ...rest]);
  expect(await page(8)).toEqual([9, 1, ...rest]);
  expect(await page(9)).toEqual([10, 0, ...rest]);
  expect(await page(50)).toEqual([51, 0, ...rest]);
  expect(await page(3, 0)).toEqual([4, 0, ...rest]);
});

test("a page stops at 256 KiB, yet a bigger event alone still comes", async () => {
  const record = await running();
  await one.store.takeOver(record.id);
  const big = (bytes: number) => ({ type: "note", payload: { text: "x".repeat(bytes) } });
  const events = [...Array.from({ length: 40 }, () => big(8000)), big(300_000), big(10)];
  await one.store.append(flush(record, { events }));
  const first = await one.store.readEvents(record.id, 0, 1000);
  expect(first?.events).toHaveLength(32);
  const second = await one.store.readEvents(record.id, 32, 1000);
  expect(second).toMatchObject({ firstSeq: 33, events: { length: 8 } });
  expect((await one.store.readEvents(record.id, 40, 1000))?.events).toHaveLength(1);
  expect((await one.store.readEvents(record.id, 41, 1000))?.events).toHaveLength(1);
});

test("with a cap events go from the front, and a reader can tell that it missed some", async () => {
  const capped = await openStore(redis, { maxEvents: 5 });
  const record = await running();
  await capped.store.takeOver(record.id);
  await capped.store.append(flush(record, { events: notes(9) }));
  const page = (after: number | null) => capped.store.readEvents(record.id, after, 100);
  expect(await page(null)).toMatchObject({ firstSeq: 5, earliestSeq: 5, nextSeq: 10, events: { length: 5 } });
  expect(await page(4)).toMatchObject({ firstSeq: 5, earliestSeq: 5, events: { length: 5 } });
  expect(await page(3)).toMatchObject({ firstSeq: 4, earliestSeq: 5, events: [] });
  const bytes = await openStore(redis, { maxBytes: 200 });
  await bytes.store.append(flush(record, { from: "10", to: "11", events: notes(2, 9) }));
  const kept = await page(null);
  expect(kept?.nextSeq).toBe(12);
  expect(kept?.events.join("").length).toBeLessThanOrEqual(200);
  expect(kept?.events.at(-1)).toContain('"line":10');
  expect(await one.commands.hget(`{tr}:t:${record.id}`, "b")).toBe(String(kept?.events.join("").length));
});

test("whatever writers race and repeat: seqs are dense, nothing is doubled, a resuming reader sees each once", async () => {
  const other = await openStore(redis);
  const plan = fc.record({
    chunks: fc.array(fc.integer({ min: 0, max: 250 }), { minLength: 3, maxLength: 12 }),
    pages: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 }),
    commits: fc.integer({ min: 0, max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ chunks, pages, commits }) => {
      const record = await running();
      const total = chunks.reduce((sum, size) => sum + size, 0);
      const seen: string[] = [];
      await Promise.all([
        followTo(one, record, chunks),
        followTo(other, record, chunks),
        commitTimes(other, record, commits),
        readAll(one, record.id, { pages, count: 1 + total + commits, seen }),
      ]);
      const events = seen.map((text, seq) => parseEventText(seq, text));
      const lines = events.flatMap(({ payload }) =>
        typeof payload["line"] === "number" ? [payload["line"]] : [],
      );
      expect(lines).toEqual(Array.from({ length: total }, (_, line) => line));
      expect(events).toHaveLength(1 + total + commits);
      expect(await one.commands.llen(`{tr}:e:${record.id}`)).toBe(events.length);
    }),
    { numRuns: 20 },
  );
});

/** A follower that takes over whenever it is fenced, until the log of these chunks is written. Sends some chunks twice. */
async function followTo({ store }: OpenStore, record: TaskRecord, chunks: readonly number[]): Promise<void> {
  for (;;) {
    const state = await store.takeOver(record.id);
    if (state === null) throw new Error("the task is gone");
    let at = Number(state.cursor === "" ? 0 : state.cursor);
    for (; at < chunks.length; at += 1) {
      const line = chunks.slice(0, at).reduce((sum, size) => sum + size, 0);
      const from = at === 0 ? "" : String(at);
      const request = flush(record, {
        epoch: state.epoch,
        from,
        to: String(at + 1),
        events: notes(chunks[at] ?? 0, line),
      });
      const answers = await Promise.all([store.append(request), store.append(request)]);
      if (answers[0] !== "appended") break;
    }
    if (at === chunks.length) return;
  }
}

async function commitTimes({ store }: OpenStore, record: TaskRecord, times: number): Promise<void> {
  let before = record;
  for (let index = 0; index < times; index += 1) {
    const after = next(before, { reason: `${index}` });
    expect(await store.commit({ before, after, events: [{ type: "task.status", payload: {} }] })).toBe(
      "committed",
    );
    before = after;
  }
}

async function readAll(
  { store }: OpenStore,
  taskId: string,
  { pages, count, seen }: { pages: readonly number[]; count: number; seen: string[] },
): Promise<void> {
  for (let round = 0; seen.length < count; round += 1) {
    const page = await store.readEvents(taskId, seen.length - 1, pages[round % pages.length] ?? 1);
    expect(page?.firstSeq).toBe(seen.length);
    seen.push(...(page?.events ?? []));
  }
}
