import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CommandRunner, run } from "../../../adapters/schedulers/shared/command-runner.ts";
import { createSlurmAdapter, SlurmTarget } from "../../../adapters/schedulers/slurm/index.ts";
import type { JobRef, SchedulerAdapter, SubmitRequest } from "../../../src/domain/adapter.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { SchedulerHarness } from "../../contract/scheduler-harness.ts";
import { eventually } from "../eventually.ts";
import { markOf, NEVER, testDirectory } from "../jobs.ts";
import { carriers } from "../local-scheduler.ts";
import { type Cluster, clusterFromEnv } from "./cluster.ts";

export const SLURM_INSTANCE = "test";

export type SlurmOverrides = {
  readonly target?: JsonObject;
  readonly run?: CommandRunner;
  readonly instance?: string;
};

/** An adapter on the cluster that SLURM_CONF names, as the composition root would make it. */
export function openSlurm(workdir: string, overrides: SlurmOverrides = {}): SchedulerAdapter {
  const target = SlurmTarget.parse({
    scheduler: "slurm",
    workdir,
    slurmConf: clusterFromEnv().conf,
    pollSeconds: 1,
    ...overrides.target,
  });
  const config = { name: "cluster", instance: overrides.instance ?? SLURM_INSTANCE, target, defaults: {} };
  return createSlurmAdapter(config, {
    now: Date.now,
    run: overrides.run ?? run,
    random: () => 0.5,
  });
}

/** Notes every command by its name. */
export function countingRunner(): { readonly run: CommandRunner; readonly calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    run: (argv, options) => {
      calls.push(argv.join(" "));
      return run(argv, options);
    },
  };
}

/** Runs sbatch and keeps its answer back, as a connection that dies would. */
export const losingRunner: CommandRunner = async (argv, options) => {
  const result = await run(argv, options);
  if (!argv.includes("--parsable")) return result;
  return { ...result, exitCode: null, stdout: "", stderr: "", timedOut: true };
};

export function slurmDirectory() {
  const directory = testDirectory();
  const workdir = join(directory.path, "jobs");
  mkdirSync(workdir);
  return { ...directory, workdir };
}

/** Names of the batch jobs that are not over. */
export async function liveNames(cluster: Cluster): Promise<string[]> {
  const stdout = await cluster.run(["squeue", "-h", "-o", "%j"]);
  return stdout.split("\n").filter((name) => name !== "");
}

export async function startSlurmHarness(): Promise<SchedulerHarness> {
  const cluster = clusterFromEnv();
  const directory = slurmDirectory();
  const { workdir } = directory;
  const counting = countingRunner();
  let nextAbsentId = 66_000_000;
  const open = (overrides: SlurmOverrides = {}) => openSlurm(workdir, { run: counting.run, ...overrides });
  return {
    instance: SLURM_INSTANCE,
    patienceMs: 25_000,
    open,
    absent: (mark) => ({ id: String(nextAbsentId++), mark, attempt: 1 }),
    scratch: (name) => join(directory.path, name),
    leftovers: async (mark) => carriers(join(workdir, mark)),
    traces: async (mark) => [
      ...readdirSync(workdir, { recursive: true })
        .map(String)
        .filter((name) => name.includes(mark) || name.startsWith(".new")),
      ...(await liveNames(cluster)).filter((name) => name === mark),
    ],
    calls: async () => counting.calls.length,
    submitAndDie: (request) => submitAndDie(workdir, request),
    submitAndLoseAnswer: async (request) => {
      const adapter = openSlurm(workdir, { run: losingRunner });
      const fault = await adapter.submit(request, NEVER).catch((error: unknown) => error);
      await adapter.close();
      return fault;
    },
    unreachable: async () => {
      const aside = `${workdir}.aside`;
      renameSync(workdir, aside);
      const nowhere = Object.fromEntries(
        ["sbatch", "squeue", "scontrol"].map((name) => [name, `/nonexistent/${name}`]),
      );
      return {
        adapter: openSlurm(workdir, { target: { commands: nowhere } }),
        restore: async () => renameSync(aside, workdir),
      };
    },
    occupy: () => occupy(cluster),
    foreign: () => plantForeign(cluster, workdir),
    close: async () => {
      await cluster.run(["scancel", "--user=root"]);
      directory.remove();
    },
  };
}

async function submitAndDie(workdir: string, request: SubmitRequest): Promise<void> {
  const script = join(import.meta.dirname, "submitter.ts");
  const words = ["--import", "tsx", script, workdir, JSON.stringify(request)];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "inherit", "inherit"] });
  const [, signal] = await once(child, "exit");
  if (signal !== "SIGKILL") throw new Error("the submitter was to be killed");
}

/** Takes every node whole. */
async function occupy(cluster: Cluster): Promise<{ release(): Promise<void> }> {
  const script = "#!/bin/sh\nexec sleep 300\n";
  const argv = ["sbatch", "--parsable", "--exclusive", "--nodes=4", "--output=/dev/null"] as const;
  const id = (await cluster.run(argv, { input: script })).trim();
  const state = async () =>
    (await cluster.run(["squeue", "-h", "-t", "all", "-j", `${id},${id}`, "-o", "%T"])).trim();
  await eventually(async () => {
    if ((await state()) !== "RUNNING") throw new Error(`the nodes are not taken yet: ${await state()}`);
  }, 30_000);
  return {
    release: async () => {
      await cluster.run(["scancel", id]);
      await eventually(async () => {
        if ((await state()) !== "CANCELLED") throw new Error("the nodes are still taken");
      }, 30_000);
    },
  };
}

/**
 * A batch job of somebody, and references to it that look like ours: the same id under marks of ours with a directory,
 * with a claim that names it, and without either.
 */
async function plantForeign(cluster: Cluster, workdir: string) {
  const script = "#!/bin/sh\nexec sleep 300\n";
  const argv = ["sbatch", "--parsable", "--job-name=somebody", "--output=/dev/null"] as const;
  const id = (await cluster.run(argv, { input: script })).trim();
  const planted = [null, `slurm:${id}`].map((identity): JobRef => {
    const mark = markOf(SLURM_INSTANCE);
    const own = join(workdir, mark, ".tailrace");
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, "attempt.1"), '{"attempt":1,"cpus":1,"walltimeSeconds":9}');
    if (identity !== null) writeFileSync(join(own, "claim.1"), `${identity}\n`);
    return { id, mark, attempt: 1 };
  });
  const state = async () =>
    (await cluster.run(["squeue", "-h", "-t", "all", "-j", `${id},${id}`, "-o", "%T"])).trim();
  return {
    refs: [
      ...planted,
      { id, mark: markOf(SLURM_INSTANCE), attempt: 1 },
      { id, mark: `tr-other-${"a".repeat(26)}`, attempt: 1 },
    ],
    isUnharmed: async () => ["PENDING", "RUNNING"].includes(await state()),
    stop: async () => {
      await cluster.run(["scancel", id]);
    },
  };
}
