import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  closeRedis,
  commandOptions,
  logConnection,
  parseRedisUrl,
  whenReady,
} from "../../../src/store/connect.ts";
import { checkDurability } from "../../../src/store/durability.ts";
import { checkSchema, SCHEMA_VERSION } from "../../../src/store/schema.ts";
import { eventually } from "../../support/eventually.ts";
import { startRedis, type TestRedis } from "../../support/redis.ts";

let redis: TestRedis;
beforeEach(async () => {
  redis = await startRedis();
});
afterEach(() => redis.stop());

test("an empty store takes our schema version, also from many processes at once", async () => {
  const connections = await Promise.all([1, 2, 3].map(() => redis.connect("commands")));
  await Promise.all(connections.map((one) => checkSchema(one)));
  expect(await connections[0]?.get("{tr}:schema")).toBe(SCHEMA_VERSION);
  await checkSchema(await redis.connect("worker"));
});

test("a store of another version is refused, under another prefix it is not ours to judge", async () => {
  const commands = await redis.connect("commands");
  await commands.set("{tr}:schema", "999");
  await expect(checkSchema(commands)).rejects.toMatchObject({
    code: "store_mismatch",
    message: expect.stringContaining('"999"'),
  });
  expect(await commands.get("{tr}:schema")).toBe("999");
  await checkSchema(commands, "{tr2}");
});

test("a server that forbids INFO is not taken for an old one", async () => {
  const commands = await redis.connect("commands");
  await commands.acl("SETUSER", "default", "-info");
  await checkSchema(commands);
});

test("a server with the promised durability is strict", async () => {
  const commands = await redis.connect("commands");
  await commands.config("SET", "appendonly", "yes");
  await commands.config("SET", "appendfsync", "always");
  expect(await checkDurability(commands, "strict")).toEqual({ kind: "strict" });
});

test("a weaker server is refused by name of each setting, unless that is accepted", async () => {
  const commands = await redis.connect("commands");
  await commands.config("SET", "maxmemory-policy", "allkeys-lru");
  await expect(checkDurability(commands, "strict")).rejects.toMatchObject({
    code: "store_mismatch",
    message: expect.stringMatching(/appendonly is no.*maxmemory-policy is allkeys-lru.*durability: relaxed/s),
  });
  await commands.config("SET", "appendonly", "yes");
  await commands.config("SET", "maxmemory-policy", "noeviction");
  expect(await checkDurability(commands, "relaxed")).toEqual({
    kind: "relaxed",
    weaknesses: [expect.stringContaining("appendfsync is everysec")],
  });
});

test("a server that forbids CONFIG leaves its durability unknown", async () => {
  const commands = await redis.connect("commands");
  await commands.acl("SETUSER", "default", "-config");
  expect(await checkDurability(commands, "strict")).toMatchObject({
    kind: "unknown",
    why: expect.stringContaining("config"),
  });
});

test.each([
  ["redis://localhost", { host: "localhost", port: 6379 }],
  [
    "redis://u:p%40ss@db.example:7000/3",
    { host: "db.example", port: 7000, username: "u", password: "p@ss", db: 3 },
  ],
  ["rediss://:secret@[::1]/", { host: "::1", port: 6379, password: "secret", tls: { servername: "[::1]" } }],
  ["unix:///run/my%20redis/s.sock", { path: "/run/my redis/s.sock" }],
])("%s is read", (url, address) => {
  expect(parseRedisUrl(url)).toEqual(address);
});

test.each(["", "localhost:6379", "http://x", "redis://", "unix://", "redis://h/zero"])(
  "the URL %j is refused in words that hold no password",
  (url) => {
    expect(() => parseRedisUrl(url)).toThrow(/^REDIS_URL /);
    expect(() => parseRedisUrl("redis://:hunter2@h:6379/x")).toThrow(/^(?!.*hunter2)/s);
  },
);

test("waiting for a server that is not there ends at the deadline and says why", async () => {
  const away = redis.open(commandOptions({ path: `${redis.dir}/nobody` }, "t"));
  await expect(whenReady(away, 300)).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("ENOENT"),
  });
  await closeRedis(away);
  await closeRedis(away);
});

test("a lost connection is logged once, and once when it is back", async () => {
  const [warn, info] = [vi.fn(), vi.fn()];
  const commands = await redis.connect("commands");
  logConnection(commands, "commands", { warn, info });
  await redis.kill();
  await eventually(() => expect(warn).toHaveBeenCalledTimes(1));
  await redis.restart();
  await eventually(() => expect(info).toHaveBeenCalledTimes(1));
  expect(warn).toHaveBeenCalledTimes(1);
  expect(info.mock.calls[0]?.[0]).toEqual({ event: "store.connection_restored", connection: "commands" });
});
