import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Settings } from "../../../src/config/settings.ts";
import type { JobRef } from "../../../src/domain/adapter.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { TaskRecord } from "../../../src/domain/task.ts";
import type { ToolDefinition } from "../../../src/domain/tool.ts";
import type { Tuning } from "../../../src/domain/tuning.ts";
import { eventually } from "../eventually.ts";
import { type StreamEvent, scriptTool, startWorld, type World } from "../world.ts";
import { type Cluster, clusterFromEnv } from "./cluster.ts";
import { slurmDirectory } from "./harness.ts";

/** What every script of these tests begins with: it counts its start, by life, and can wait to be let go on. */
const PREAMBLE = `#!/bin/sh
dir=$TAILRACE_ARG_DIR
life=\${SLURM_RESTART_COUNT:-0}
echo "$life" >> "$dir/starts"
gate() { until [ -e "$dir/go.$1" ] || [ -e "$dir/go" ]; do sleep 0.1; done; }
`;

/** Nodes that tests take down or fill; every other job stays away from them. */
export const AWAY = { options: { extra: ["--exclude=c1,c2"] } } satisfies Partial<ToolDefinition>;

/** A tool on the cluster. Its script knows `$dir`, `$life`, and `gate NAME`, which waits for `let(NAME)`. */
export function livesTool(name: string, body: string, fields: Partial<ToolDefinition> = {}): ToolDefinition {
  return scriptTool(name, `${PREAMBLE}${body}\n`, { target: "cluster", ...fields });
}

/** One task on the cluster, seen from outside and from within. */
export type Life = {
  readonly taskId: string;
  /** Shared with the script. */
  readonly dir: string;
  /** The lives in which the script began, in order. */
  starts(): string[];
  /** Waits until the script has begun this many times. */
  begins(times: number): Promise<void>;
  /** Lets the script pass `gate NAME`; without a name, every gate. */
  let(name?: string | number): void;
  /** True once the script has made this file in `$dir`. */
  has(name: string): boolean;
  record(): Promise<TaskRecord>;
  job(): Promise<JobRef>;
  /** Waits until the record is as wanted, and answers it. */
  reaches(wanted: Partial<Pick<TaskRecord, "phase" | "life">>, deadlineMs?: number): Promise<TaskRecord>;
  /** `structuredContent.outcome` once the task has ended, as tasks/get tells it. */
  outcome(deadlineMs?: number): Promise<JsonObject>;
  /** Types and payloads of all events of the ended task, the vendor's prefix left out. */
  events(): Promise<StreamEvent[]>;
  cancel(): Promise<void>;
  /** Files in the job's `.tailrace`. */
  files(): Promise<string[]>;
  readFile(name: string): Promise<string>;
};

/** A whole Tailrace on the cluster that SLURM_CONF names. */
export type Lives = {
  readonly world: World;
  readonly cluster: Cluster;
  readonly workdir: string;
  start(tool: string): Promise<Life>;
  stop(): Promise<void>;
};

export type LivesOptions = {
  readonly tools: readonly ToolDefinition[];
  readonly tuning?: Partial<Tuning>;
  readonly target?: JsonObject;
};

const BETWEEN_LOOKS_MS = 100;

/** Longest time for what Slurm does of itself in a few seconds, on a busy machine. */
export const PATIENCE_MS = 60_000;

export async function startLives(options: LivesOptions): Promise<Lives> {
  const cluster = clusterFromEnv();
  const { path, workdir, remove } = slurmDirectory();
  const target = { scheduler: "slurm", workdir, slurmConf: cluster.conf, pollSeconds: 1, ...options.target };
  const targets: Settings["targets"] = { cluster: target };
  // A call of Slurm's tools waits for 20 s for a controller that is away.
  const tuning = { callTimeoutMs: 25_000, submitTimeoutMs: 30_000, ...options.tuning };
  const world = await startWorld({ targets, tools: options.tools, tuning });
  let started = 0;
  return {
    world,
    cluster,
    workdir,
    async start(tool) {
      started += 1;
      const dir = join(path, `${started}.${tool}`);
      mkdirSync(dir);
      const taskId = await world.start(tool, { dir });
      return lifeOf(world, workdir, { taskId, dir });
    },
    async stop() {
      await world.stop();
      await cluster.run(["scancel", "--user=root"]);
      await isIdle(cluster);
      remove();
    },
  };
}

/** Nothing runs, no node is down, and no processor is taken by what Slurm has forgotten. */
async function isIdle(cluster: Cluster): Promise<void> {
  await eventually(async () => {
    const nodes = await cluster.run([
      "sinfo",
      "--noheader",
      "--Node",
      "--partition=main",
      "--format=%n %t %C",
    ]);
    const odd = nodes.split("\n").filter((line) => line !== "" && !/ idle 0[/](\d+)[/]0[/]\1 *$/.test(line));
    await delay(BETWEEN_LOOKS_MS);
    if (odd.length > 0) throw new Error(`the cluster is not as it was: ${odd.join(", ")}`);
  }, 20_000);
}

function lifeOf(world: World, workdir: string, known: Pick<Life, "taskId" | "dir">): Life {
  const { taskId, dir } = known;
  const record = async () => {
    const stored = await world.ledger.store.read(taskId);
    if (stored === null) throw new Error(`task ${taskId} is not there`);
    return stored.record;
  };
  const own = async () => join(workdir, (await record()).mark, ".tailrace");
  const starts = () => linesOf(join(dir, "starts"));
  return {
    ...known,
    starts,
    begins: (times) =>
      eventually(() => {
        if (starts().length < times) throw new Error(`the script has begun ${starts().length} times`);
      }, PATIENCE_MS),
    let: (name) => writeFileSync(join(dir, name === undefined ? "go" : `go.${name}`), ""),
    has: (name) => existsSync(join(dir, name)),
    record,
    job: () =>
      eventually(async () => {
        const { job, phase, reason } = await record();
        if (job === null) throw new Error(`there is no job yet: ${phase}, ${reason}`);
        return job;
      }, PATIENCE_MS),
    reaches: (wanted, deadlineMs = PATIENCE_MS) =>
      eventually(async () => {
        const now = await record();
        const isThere = Object.entries(wanted).every(([key, value]) => Reflect.get(now, key) === value);
        if (isThere) return now;
        await delay(BETWEEN_LOOKS_MS);
        throw new Error(`wanted ${JSON.stringify(wanted)}, it is ${JSON.stringify(now)}`);
      }, deadlineMs),
    async outcome(deadlineMs = 2 * PATIENCE_MS) {
      await world.ended(taskId, deadlineMs);
      const { outcome } = await record();
      if (outcome === null) throw new Error("an ended task has an outcome");
      return outcome;
    },
    async events() {
      const events = await world.events(taskId);
      return events.map((event) => ({ ...event, type: event.type.replace("dev.tailrace.", "") }));
    },
    async cancel() {
      const { error } = await world.call("tasks/cancel", { taskId });
      if (error !== undefined) throw new Error(JSON.stringify(error));
    },
    files: async () => readdirSync(await own()),
    readFile: async (name) => readFileSync(join(await own(), name), "utf8"),
  };
}

function linesOf(path: string): string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8").split("\n").slice(0, -1);
}
