import { afterAll, beforeAll, expect, test } from "vitest";
import { dutiesOf, dutyMember } from "../../../src/domain/duties.ts";
import type { TaskInput, TaskRecord } from "../../../src/domain/task.ts";
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
let one: OpenStore;
beforeAll(async () => {
  redis = await startRedis();
  one = await openStore(redis);
});
afterAll(() => redis.stop());

/** All duties of a target, due or not. */
async function duties(target: string): Promise<string[]> {
  const due = await one.commands.zrange(`{tr}:due:${target}`, "0", "-1");
  return [...due, ...(await one.commands.zrange(`{tr}:poll:${target}`, "0", "-1"))].sort();
}

function expectedDuties(record: TaskRecord): string[] {
  return dutiesOf(record)
    .map((duty) => dutyMember(record.id, duty))
    .sort();
}

const ANSWERED: TaskInput = {
  key: "a:b",
  request: {},
  askedAtMs: 1,
  answer: 1,
  answeredAtMs: 2,
  deliveredAtMs: null,
};

test("through a whole life the due-sets hold what the record asks for, and nothing once it has ended", async () => {
  const target = "life";
  let record = sampleRecord({ target });
  await one.store.create(createRequest({ record }));
  expect(await duties(target)).toEqual([`submit:${record.id}`]);
  const steps: Partial<TaskRecord>[] = [
    { phase: "submitting", attempt: 1 },
    { phase: "queued" },
    { phase: "running" },
    { cancel: { atMs: 1, by: "alice" } },
    { inputs: [ANSWERED] },
    { inputs: [{ ...ANSWERED, deliveredAtMs: 3 }] },
    { inputs: [ANSWERED, { ...ANSWERED, key: "b" }] },
    { phase: "queued", life: 1 },
    { phase: "running" },
  ];
  for (const fields of steps) {
    const after = next(record, fields);
    expect(await one.store.commit({ before: record, after, events: [] })).toBe("committed");
    expect(await duties(target)).toEqual(expectedDuties(after));
    record = after;
  }
  expect(await duties(target)).toHaveLength(5);
  const ended = next(record, { phase: "ended" });
  expect(await one.store.commit({ before: record, after: ended, events: [] })).toBe("committed");
  expect(await duties(target)).toEqual([]);
});

test("a refused commit leaves the due-sets as they were", async () => {
  const record = sampleRecord({ target: "refused" });
  await one.store.create(createRequest({ record }));
  const old = { ...record, phaseRev: 7 };
  expect(await one.store.commit({ before: old, after: next(old, { phase: "running" }), events: [] })).toBe(
    "stale",
  );
  expect(await duties("refused")).toEqual([`submit:${record.id}`]);
});

test("two stores that take at once never get the same duty, and get all of them", async () => {
  const target = "shared";
  const other = await openStore(redis);
  const created = Array.from({ length: 120 }, () => sampleRecord({ target, phase: "queued" }));
  await Promise.all(created.map((record) => one.store.create(createRequest({ record }))));
  const taken = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      [one, other][index % 2]?.store.takeDue(target, "watch", { limit: 10, againInMs: 60_000 }),
    ),
  );
  const members = taken.flatMap((batch) => batch ?? []);
  expect(members).toHaveLength(120);
  expect(new Set(members)).toEqual(new Set(created.map(({ id }) => `watch:${id}`)));
  expect(await one.store.takeDue(target, "watch", { limit: 10, againInMs: 1 })).toEqual([]);
});

test("watching and work are taken apart", async () => {
  const record = sampleRecord({ target: "apart", phase: "running" });
  await one.store.create(createRequest({ record }));
  const take = (kind: "watch" | "work") => one.store.takeDue("apart", kind, { limit: 9, againInMs: 60_000 });
  expect(await take("work")).toEqual([`follow:${record.id}`]);
  expect(await take("watch")).toEqual([`watch:${record.id}`]);
});

test("a duty that was taken and not fulfilled comes back by itself", async () => {
  const record = sampleRecord({ target: "again" });
  await one.store.create(createRequest({ record }));
  const take = (againInMs: number) => one.store.takeDue("again", "work", { limit: 9, againInMs });
  expect(await take(100)).toEqual([`submit:${record.id}`]);
  await eventually(async () => expect(await take(60_000)).toEqual([`submit:${record.id}`]));
  expect(await take(1)).toEqual([]);
});

test("reschedule moves duties of both kinds, and brings back none that was fulfilled", async () => {
  const target = "moved";
  const record = sampleRecord({ target, phase: "running" });
  await one.store.create(createRequest({ record }));
  const members = [`watch:${record.id}`, `follow:${record.id}`, `submit:${record.id}`, "watch:t_nobody"];
  await one.store.reschedule(
    target,
    members.map((member) => ({ member, inMs: 60_000 })),
  );
  expect(await one.store.takeDue(target, "work", { limit: 9, againInMs: 1 })).toEqual([]);
  expect(await one.store.takeDue(target, "watch", { limit: 9, againInMs: 1 })).toEqual([]);
  expect(await duties(target)).toEqual([`follow:${record.id}`, `watch:${record.id}`]);
  await one.store.reschedule(target, [{ member: `watch:${record.id}`, inMs: 0 }]);
  expect(await one.store.takeDue(target, "watch", { limit: 9, againInMs: 1 })).toEqual([
    `watch:${record.id}`,
  ]);
});

test("a flush pushes the follow duty forward", async () => {
  const target = "flushed";
  const record = sampleRecord({ target, phase: "running" });
  await one.store.create(createRequest({ record }));
  const state = await one.store.takeOver(record.id);
  const answer = await one.store.append({
    taskId: record.id,
    target,
    life: 0,
    epoch: state?.epoch ?? -1,
    from: "",
    to: "1",
    snapshot: null,
    progress: PROGRESS,
    events: [],
    dutyInMs: 60_000,
  });
  expect(answer).toBe("appended");
  expect(await one.store.takeDue(target, "work", { limit: 9, againInMs: 1 })).toEqual([]);
});
