import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Redis } from "ioredis";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { closeRedis, commandOptions, subscriberOptions, whenReady } from "../../../src/store/connect.ts";
import { checkDurability } from "../../../src/store/durability.ts";
import { type EmbeddedOptions, type EmbeddedRedis, startEmbedded } from "../../../src/store/embedded.ts";
import { createRedisStore } from "../../../src/store/redis-store.ts";
import { eventually } from "../../support/eventually.ts";
import { openRedis } from "../../support/redis.ts";
import { createRequest } from "../../support/store.ts";

/** Not a literal in the call: knip would look for an npm package that brings it. */
const FLOCK = "flock";

let root: string;
const pids = new Set<number>();
const connections = new Set<Redis>();
const running = new Set<EmbeddedRedis>();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tr-emb-"));
});

afterEach(async () => {
  for (const redis of connections) redis.disconnect();
  connections.clear();
  // A stop first, so that no guard starts again what is killed below.
  for (const embedded of running) await embedded.stop().catch(() => undefined);
  running.clear();
  for (const pid of pids) signal(pid, "SIGKILL");
  pids.clear();
  await eventually(() => rmSync(root, { recursive: true, force: true }));
});

function signal(pid: number, name: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, name);
  } catch {
    // gone already
  }
}

function logger() {
  return { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
}

async function start(fields: Partial<EmbeddedOptions> = {}): Promise<EmbeddedRedis> {
  const embedded = await startEmbedded({
    stateDir: join(root, "state"),
    searchPath: process.env["PATH"] ?? "",
    logger: logger(),
    ...fields,
  });
  running.add(embedded);
  return embedded;
}

async function client({ address }: EmbeddedRedis): Promise<Redis> {
  const redis = openRedis(commandOptions(address, "test"));
  connections.add(redis);
  await whenReady(redis, 5000);
  pids.add(await pidOf(redis));
  return redis;
}

async function pidOf(redis: Redis): Promise<number> {
  return Number(/process_id:(\d+)/.exec(await redis.info("server"))?.[1]);
}

function lockIsHeld(stateDir = join(root, "state")): boolean {
  return spawnSync(FLOCK, ["-n", join(stateDir, "redis.lock"), "true"]).status !== 0;
}

test("the server is private, keeps every acknowledged write, and belongs to us alone", async () => {
  const embedded = await start();
  expect(embedded.origin).toBe("started");
  const redis = await client(embedded);
  expect(await checkDurability(redis, "strict")).toEqual({ kind: "strict" });
  expect(await redis.config("GET", "list-compress-depth")).toEqual(["list-compress-depth", "1"]);
  expect(await redis.config("GET", "port")).toEqual(["port", "0"]);
  expect(statSync(join(root, "state")).mode & 0o777).toBe(0o700);
  expect(statSync(embedded.address.path ?? "").mode & 0o077).toBe(0);
  expect(embedded.address.path).toBe(join(root, "state", "redis.sock"));
});

test("a clean stop ends the server, and the next start finds what was written", async () => {
  const first = await start();
  const redis = await client(first);
  await redis.set("k", "kept");
  await closeRedis(redis);
  expect(await first.stop()).toBe("stopped");
  expect(await first.stop()).toBe("stopped");
  expect(lockIsHeld()).toBe(false);
  const second = await start();
  expect(second.origin).toBe("started");
  expect(await (await client(second)).get("k")).toBe("kept");
});

test("starts at once on one directory, under two names, share one server, which the last one stops", async () => {
  mkdirSync(join(root, "state"));
  symlinkSync(join(root, "state"), join(root, "alias"));
  const [one, two, three] = await Promise.all([start(), start({ stateDir: join(root, "alias") }), start()]);
  if (!one || !two || !three) throw new Error("not all are up");
  const clients = await Promise.all([one, two, three].map(client));
  expect(new Set(await Promise.all(clients.map(pidOf))).size).toBe(1);
  expect([one, two, three].filter(({ origin }) => origin === "started").length).toBeLessThanOrEqual(1);
  await Promise.all(clients.map(closeRedis));
  expect(await one.stop()).toBe("in_use");
  expect(await two.stop()).toBe("in_use");
  expect(lockIsHeld()).toBe(true);
  expect(await three.stop()).toBe("stopped");
  expect(lockIsHeld()).toBe(false);
});

test("kill -9 right after acknowledged creates loses none of them, and the server comes back by itself", async () => {
  const log = logger();
  const embedded = await start({ logger: log });
  const commands = await client(embedded);
  const subscriber = openRedis(subscriberOptions(embedded.address, "test"));
  connections.add(subscriber);
  const store = createRedisStore({ commands, subscriber, renderTask: () => "{}", claimTtlMs: 1000 });
  const acknowledged: string[] = [];
  for (let round = 1; round <= 4; round += 1) {
    let isDead = false;
    const callers = Array.from({ length: 16 }, async () => {
      while (!isDead) {
        const request = createRequest();
        const answer = await store.create(request).catch(() => null);
        if (answer?.kind === "created") acknowledged.push(request.record.id);
        if (answer === null) return;
      }
    });
    const enough = acknowledged.length + 40 * round;
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(enough));
    process.kill(await pidOf(commands), "SIGKILL");
    isDead = true;
    await Promise.all(callers);
    await eventually(async () => pids.add(await pidOf(commands)));
    expect((await store.readMany(acknowledged)).size).toBe(acknowledged.length);
  }
  expect(log.warn).toHaveBeenCalledTimes(4);
});

test("Redis itself holds the lock: it outlives the helper that started it", async () => {
  const redis = await client(await start());
  const pid = await pidOf(redis);
  const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  expect(readFileSync(`/proc/${parent}/comm`, "utf8").trim()).toBe("flock");
  process.kill(parent, "SIGKILL");
  await eventually(() => expect(existsSync(`/proc/${parent}/status`)).toBe(false));
  expect(lockIsHeld()).toBe(true);
  expect((await start()).origin).toBe("reused");
});

test("the server survives kill -9 of the process that started it, and is reused", async () => {
  const starter = fileURLToPath(new URL("../../support/embedded-starter.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", starter, join(root, "state")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  const embedded = await start();
  expect(embedded.origin).toBe("reused");
  await closeRedis(await client(embedded));
  expect(await embedded.stop()).toBe("stopped");
});

test("a state directory with a long and odd name gets its socket in a private short one", async () => {
  const stateDir = join(root, `it's "odd" ü ${"x".repeat(90)}`);
  const embedded = await start({ stateDir });
  const socket = embedded.address.path ?? "";
  expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(100);
  expect(statSync(join(socket, "..")).mode & 0o777).toBe(0o700);
  const redis = await client(embedded);
  await redis.set("k", "v");
  expect(existsSync(join(stateDir, "redis", "appendonlydir"))).toBe(true);
  await closeRedis(redis);

  // The directory is replaced under the server: what it writes now would be lost.
  rmSync(stateDir, { recursive: true });
  await expect(start({ stateDir })).rejects.toMatchObject({
    code: "store_mismatch",
    message: expect.stringContaining("replaced while it ran"),
  });
  chmodSync(join(socket, ".."), 0o755);
  await expect(start({ stateDir })).rejects.toThrow("only you can enter");
  chmodSync(join(socket, ".."), 0o700);
  signal(await pidOf(await client(embedded)), "SIGKILL");
  rmSync(join(socket, ".."), { recursive: true });
});

test("a hung server is reported, and no second one is started beside it", async () => {
  const redis = await client(await start());
  const pid = await pidOf(redis);
  process.kill(pid, "SIGSTOP");
  await expect(start({ startTimeoutMs: 1200 })).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("does not answer"),
  });
  process.kill(pid, "SIGCONT");
  expect((await start()).origin).toBe("reused");
});

test("without a server or without flock on PATH one line says what to install", async () => {
  await expect(start({ searchPath: root })).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringMatching(
      /^no store: REDIS_URL is not set.*redis-server or valkey-server.*apt install[^\n]*$/,
    ),
  });
  program("valkey-server", "exit 0");
  await expect(start({ searchPath: root })).rejects.toThrow(/flock.*util-linux/);
});

test("a server that does not start is reported with its own last words", async () => {
  program("redis-server", "echo 'bad directive at line 3' >&2; exit 3");
  const failed = start({ searchPath: `${root}:${process.env["PATH"]}` });
  await expect(failed).rejects.toThrow(/exit code 3.*bad directive at line 3/s);
});

function program(name: string, body: string): void {
  writeFileSync(join(root, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
}
