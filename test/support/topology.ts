import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { tokenHash } from "../../src/auth/tokens.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { commandOptions } from "../../src/store/connect.ts";
import { type CliProcess, cliProcess } from "./cli-process.ts";
import { eventually } from "./eventually.ts";
import { TOKENS } from "./front-desk.ts";
import { openRedis } from "./redis.ts";
import { QUICK } from "./world.ts";

type TopologyOptions = {
  /** By name: each tool's part of the configuration. */
  readonly tools: Readonly<Record<string, JsonObject>>;
  readonly replicas?: number;
  readonly tuning?: JsonObject;
  /** Fields of the local target `here`. */
  readonly target?: JsonObject;
  /** In place of `here`; the tools then name theirs. */
  readonly targets?: JsonObject;
};

/** `tailrace serve` and `tailrace work` as processes of their own, on one state directory with its embedded Redis. */
export type Topology = {
  readonly dir: string;
  /** Append to this file from a job: each line is one start. */
  readonly startsFile: string;
  readonly servers: readonly CliProcess[];
  readonly server: CliProcess;
  readonly worker: CliProcess;
  /** A second worker, which is not started with the others. */
  readonly spare: CliProcess;
  /** The test's own connection to the embedded Redis. Reconnects by itself. */
  readonly observer: Redis;
  redisPid(): Promise<number>;
  /** Lines in `startsFile` that are equal to `text`. */
  starts(text: string): number;
  /** The ends of all logs, for the message of a failure. */
  logs(): string;
  /** SIGKILL to every process of ours and to Redis, all before anything else happens. */
  killAll(): Promise<void>;
  /** Starts all of them, when none of them runs. */
  startAll(): Promise<void>;
  stop(): Promise<void>;
};

/** Locks and duties so short that a killed worker's tasks are taken over within about two seconds. */
const HASTY = { ...QUICK, submitTimeoutMs: 1_000, leaseMarginMs: 200, lockMs: 1_000, stalledMs: 500 };

export async function startTopology(options: TopologyOptions): Promise<Topology> {
  const dir = mkdtempSync(join(tmpdir(), "tr-e2e-"));
  const stateDir = join(dir, "state");
  const startsFile = join(dir, "starts");
  const config = join(dir, "tailrace.yaml");
  mkdirSync(stateDir, { mode: 0o700 });
  writeFileSync(startsFile, "");
  writeFileSync(config, configText(options, startsFile));
  const shared = ["--config", config, "--state-dir", stateDir];
  const serve = ["serve", ...shared, "--port", "0"];
  const server = cliProcess("server 0", serve);
  const others = Array.from({ length: (options.replicas ?? 1) - 1 }, (_, index) =>
    cliProcess(`server ${index + 1}`, serve),
  );
  const observer = openRedis({
    ...commandOptions({ path: join(stateDir, "redis.sock") }, "test-observer"),
    retryStrategy: () => 20,
  });
  const worker = cliProcess("worker", ["work", ...shared]);
  const spare = cliProcess("spare worker", ["work", ...shared]);
  const topology = govern({ dir, startsFile, server, servers: [server, ...others], worker, spare, observer });
  try {
    await topology.startAll();
    return topology;
  } catch (error) {
    await topology.stop();
    throw error;
  }
}

type Parts = Pick<Topology, "dir" | "startsFile" | "server" | "servers" | "worker" | "spare" | "observer">;

function govern(parts: Parts): Topology {
  const { dir, startsFile, servers, worker, spare, observer } = parts;
  const all = [...servers, worker];
  const redisPid = async () => Number(/process_id:(\d+)/.exec(await observer.info("server"))?.[1]);
  return {
    ...parts,
    redisPid,
    starts: (text) =>
      readFileSync(startsFile, "utf8")
        .split("\n")
        .filter((line) => line === text).length,
    logs: () => [...all, spare].map((one) => `--- ${one.name}\n${one.log().slice(-6_000)}`).join("\n"),
    async killAll() {
      const pid = await redisPid();
      const gone = all.map((one) => one.kill());
      process.kill(pid, "SIGKILL");
      await Promise.all(gone);
    },
    async startAll() {
      await Promise.all(all.map((one) => one.start()));
      await eventually(() => observer.ping());
    },
    async stop() {
      const pid = await redisPid().catch(() => null);
      observer.disconnect();
      for (const one of [...all, spare]) await one.stop();
      // The last process of ours stops it, unless all of them were killed.
      if (pid !== null && isThere(pid)) await killPid(pid);
      await eventually(() => rmSync(dir, { recursive: true, force: true }));
    },
  };
}

/** JSON is YAML. */
function configText(options: TopologyOptions, startsFile: string): string {
  const tools = Object.fromEntries(
    Object.entries(options.tools).map(([name, tool]) => [
      name,
      { description: "A job of the tests.", target: "here", env: { STARTS: startsFile }, ...tool },
    ]),
  );
  return JSON.stringify({
    instance: "e2e",
    auth: {
      tokens: Object.entries(TOKENS).map(([name, token]) => ({ name, sha256: tokenHash(token) })),
    },
    targets: options.targets ?? {
      here: { scheduler: "local", maxConcurrent: 4, graceSeconds: 1, ...options.target },
    },
    tools,
    tuning: { ...HASTY, ...options.tuning },
  });
}

/** Kills a process that is no child of ours and resolves when it no longer is there. */
export async function killPid(pid: number): Promise<void> {
  process.kill(pid, "SIGKILL");
  await eventually(() => {
    if (isThere(pid)) throw new Error(`process ${pid} is still there`);
  });
}

function isThere(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false; // no such process any more
  }
}
