import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toStoreFault } from "../../../src/store/faults.ts";
import { eventually } from "../../support/eventually.ts";
import { startRedis, type TestRedis } from "../../support/redis.ts";
import { createRequest, next, type OpenStore, openStore, sampleRecord } from "../../support/store.ts";

let redis: TestRedis;
let one: OpenStore;
beforeEach(async () => {
  redis = await startRedis(["--appendonly", "yes", "--appendfsync", "always"]);
  one = await openStore(redis);
});
afterEach(() => redis.stop());

test("a hung Redis is store_unavailable within 2.5 s, and the timed-out create is found with the same claim", async () => {
  const warm = createRequest();
  await one.store.create(warm);
  redis.pause();
  const started = Date.now();
  const request = createRequest();
  const unavailable = {
    code: "store_unavailable",
    message: expect.stringContaining("retry with the same key"),
  };
  await Promise.all([
    expect(one.store.create(request)).rejects.toMatchObject(unavailable),
    expect(one.store.glance(warm.record.id)).rejects.toMatchObject(unavailable),
    expect(one.store.now()).rejects.toMatchObject(unavailable),
  ]);
  expect(Date.now() - started).toBeLessThan(2500);
  redis.resume();
  const again = { ...request, record: sampleRecord() };
  const answer = await eventually(() => one.store.create(again));
  expect(answer).toEqual({ kind: "existing", taskId: request.record.id });
});

test("calls made while others already wait for a hung Redis are answered as soon", async () => {
  await one.store.now();
  redis.pause();
  const waiting = one.store.now().catch(() => undefined);
  await delay(500);
  const started = Date.now();
  await expect(one.store.create(createRequest())).rejects.toMatchObject({ code: "store_unavailable" });
  expect(Date.now() - started).toBeLessThan(2500);
  await waiting;
  redis.resume();
});

test("a dead Redis is store_unavailable at once, and everything acknowledged is there when it returns", async () => {
  const request = createRequest();
  await one.store.create(request);
  await redis.kill();
  const started = Date.now();
  await expect(one.store.create(createRequest())).rejects.toMatchObject({ code: "store_unavailable" });
  await expect(one.store.list("alice", 1)).rejects.toMatchObject({ code: "store_unavailable" });
  expect(Date.now() - started).toBeLessThan(1000);
  const ready = once(one.commands, "ready");
  await redis.restart();
  await ready;
  expect((await one.store.read(request.record.id))?.record).toEqual(request.record);
});

test("a kill while calls are under way fails them and hangs none", async () => {
  const calls = Array.from({ length: 200 }, () => one.store.create(createRequest()));
  const outcomes = Promise.allSettled(calls);
  await redis.kill();
  for (const outcome of await outcomes) {
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "store_unavailable" });
  }
});

test("a full store refuses a create whole, goes on answering, and can be emptied by purging", async () => {
  const old = createRequest();
  await one.store.create(old);
  await one.store.commit({
    before: old.record,
    after: next(old.record, { phase: "ended", expiresAtMs: 5 }),
    events: [],
  });
  const living = createRequest();
  await one.store.create(living);
  await one.commands.config("SET", "maxmemory", "1mb");

  const refused = createRequest({ record: sampleRecord({ target: "full", owner: "eve" }) });
  const full = { code: "store_full", message: expect.stringContaining("maxmemory") };
  await expect(one.store.create(refused)).rejects.toMatchObject(full);
  const after = next(living.record, { phase: "running" });
  const commit = { before: living.record, after, events: [{ type: "task.status", payload: {} }] };
  await expect(one.store.commit(commit)).rejects.toMatchObject(full);
  await expect(one.store.takeOver(living.record.id)).rejects.toMatchObject(full);

  expect(await one.store.read(living.record.id)).toEqual({
    record: living.record,
    progress: null,
    nextSeq: 1,
    epoch: 0,
  });
  expect(await one.store.glance(living.record.id)).toMatchObject({ owner: "alice" });
  expect((await one.store.readEvents(living.record.id, null, 9))?.events).toHaveLength(1);
  expect(await one.store.list("eve", 9)).toEqual([]);
  expect(await one.store.expired(9)).toEqual([old.record.id]);
  expect(await one.store.purge(old.record.id)).toBe("purged");

  await one.commands.config("SET", "maxmemory", "0");
  expect(await one.store.create({ ...old, record: sampleRecord() })).toMatchObject({ kind: "expired" });
  expect(await one.store.create(refused)).toEqual({ kind: "created" });
  expect(await one.store.commit(commit)).toBe("committed");
});

test("a server that forgot our scripts gets them again", async () => {
  const request = createRequest();
  await one.store.create(request);
  await one.commands.script("FLUSH");
  const glances = await Promise.all(Array.from({ length: 50 }, () => one.store.glance(request.record.id)));
  expect(glances.every((glance) => glance?.owner === "alice")).toBe(true);
  await one.commands.script("FLUSH");
  await one.store.create(createRequest({ record: sampleRecord({ owner: "zoe" }) }));
  expect(await one.store.list("zoe", 9)).toHaveLength(1);
});

test("a foreign key under our prefix is store_mismatch", async () => {
  await one.commands.set("{tr}:t:t_odd", "text");
  await expect(one.store.read("t_odd")).rejects.toMatchObject({ code: "store_mismatch" });
});

test.each([
  ["LOADING Redis is loading the dataset in memory", "store_unavailable"],
  ["READONLY You can't write against a read only replica.", "store_unavailable"],
  ["MISCONF Errors writing to the AOF file: No space left on device", "store_unavailable"],
  ["NOREPLICAS Not enough good replicas to write.", "store_unavailable"],
  ["NOAUTH Authentication required.", "store_unavailable"],
  ["OOM command not allowed when used memory > 'maxmemory'.", "store_full"],
  ["ERR Error running script (call to f_ab): @user_script:9: -OOM command not allowed when …", "store_full"],
])("the server's %s is %s", (message, code) => {
  const error = Object.assign(new Error(message), { name: "ReplyError" });
  expect(toStoreFault(error)).toMatchObject({ code, cause: error });
});

test("a fault of ours stays what it is", () => {
  const bug = Object.assign(new Error("ERR wrong number of arguments"), { name: "ReplyError" });
  expect(toStoreFault(bug)).toBe(bug);
  const typo = new TypeError("undefined is not a function");
  expect(toStoreFault(typo)).toBe(typo);
});
