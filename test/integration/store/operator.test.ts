import { afterAll, beforeAll, expect, test } from "vitest";
import { describeServer } from "../../../src/store/describe.ts";
import { startRedis, type TestRedis } from "../../support/redis.ts";
import { createRequest, openStore, sampleRecord } from "../../support/store.ts";

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

test("the targets that have tasks are told, also those that no configuration knows any more", async () => {
  const { store } = await openStore(redis);
  expect(await store.targets()).toEqual([]);
  for (const target of ["here", "sold[1]*", "a:b", "here"]) {
    await store.create(createRequest({ record: sampleRecord({ target }) }));
  }
  expect(await store.targets()).toEqual(["a:b", "here", "sold[1]*"]);
  const other = await openStore(redis, { prefix: "[x]*{tr2}" });
  expect(await other.store.targets()).toEqual([]);
  await other.store.create(createRequest({ record: sampleRecord({ target: "elsewhere" }) }));
  expect(await other.store.targets()).toEqual(["elsewhere"]);
  expect(await store.targets()).not.toContain("elsewhere");
});

test("a server is described by its product and version, its round trip, and what it keeps", async () => {
  const commands = await redis.connect("commands");
  expect(await describeServer(commands)).toEqual({
    version: expect.stringMatching(/^(Redis|Valkey) \d+\.\d+/),
    latencyMs: expect.any(Number),
    durability: { kind: "relaxed", weaknesses: [expect.stringContaining("appendonly is no")] },
  });
});

test("a server that forbids INFO and CONFIG is described without them", async () => {
  const commands = await redis.connect("commands");
  await commands.acl("SETUSER", "default", "-info", "-config");
  expect(await describeServer(commands)).toMatchObject({ version: null, durability: { kind: "unknown" } });
  await commands.acl("SETUSER", "default", "+info", "+config");
});
