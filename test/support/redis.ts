import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import {
  type ConnectionOptions,
  commandOptions,
  subscriberOptions,
  whenReady,
  workerOptions,
} from "../../src/store/connect.ts";
import { removeTree } from "./remove-tree.ts";

/** A private Redis for one test file, on a unix socket in a directory of its own. */
export type TestRedis = {
  readonly path: string;
  /** As REDIS_URL. */
  readonly url: string;
  readonly dir: string;
  /** A ready connection with our own options; closed by `stop`. */
  connect(kind: "commands" | "subscriber" | "worker"): Promise<Redis>;
  /** A connection with any options, perhaps not ready; closed by `stop`. */
  open(options: ConnectionOptions): Redis;
  /** Hangs the server without closing its sockets. */
  pause(): void;
  resume(): void;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again on the same directory. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** Not a literal in the call: knip would look for an npm package that brings it. */
const SERVER = "redis-server";
const OPTIONS = { commands: commandOptions, subscriber: subscriberOptions, worker: workerOptions };

export async function startRedis(args: readonly string[] = []): Promise<TestRedis> {
  const dir = mkdtempSync(join(tmpdir(), "tr-redis-"));
  const path = join(dir, "s");
  const connections = new Set<Redis>();
  let server = await launch(dir, path, args);
  const open = (options: ConnectionOptions) => {
    const redis = openRedis(options);
    connections.add(redis);
    return redis;
  };
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    server.kill("SIGKILL");
    await exited;
  };
  return {
    path,
    url: `unix://${path}`,
    dir,
    open,
    async connect(kind) {
      const redis = open(OPTIONS[kind]({ path }, `test-${kind}`));
      await whenReady(redis, 5000);
      return redis;
    },
    pause: () => void server.kill("SIGSTOP"),
    resume: () => void server.kill("SIGCONT"),
    kill,
    async restart() {
      await kill();
      server = await launch(dir, path, args);
    },
    async stop() {
      for (const redis of connections) redis.disconnect();
      await kill();
      removeTree(dir);
    },
  };
}

/** A connection that the caller closes. */
export function openRedis(options: ConnectionOptions): Redis {
  const redis = new Redis(options);
  redis.on("error", () => undefined);
  return redis;
}

async function launch(dir: string, path: string, args: readonly string[]): Promise<ChildProcess> {
  const flags = ["--port", "0", "--unixsocket", path, "--dir", dir, "--save", "", ...args];
  const server = spawn(SERVER, flags, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  server.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  server.stderr.resume();
  const deadline = Date.now() + 15_000;
  // Both wordings of the line that says clients may come, Redis's and Valkey's.
  while (!/ready to accept connections/i.test(output)) {
    if (server.exitCode !== null || Date.now() > deadline)
      throw new Error(`redis-server is not up:\n${output}`);
    await delay(10);
  }
  output = "";
  server.stdout.removeAllListeners("data").resume();
  return server;
}
