import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createLocalAdapter, LocalTarget } from "../../adapters/schedulers/local/index.ts";
import type { JobRef, SchedulerAdapter, SubmitRequest } from "../../src/domain/adapter.ts";
import type { SchedulerHarness } from "../contract/scheduler-harness.ts";
import { eventually } from "./eventually.ts";
import { markOf, NEVER, scriptSpec, testDirectory } from "./jobs.ts";

export const INSTANCE = "test";

export type LocalOptions = { readonly maxConcurrent?: number; readonly graceSeconds?: number };

/** An adapter on a workdir, as the composition root would make it. */
export function openLocal(
  workdir: string,
  { maxConcurrent = 1, graceSeconds = 1 }: LocalOptions = {},
  reached?: (moment: string) => Promise<void>,
): SchedulerAdapter {
  const target = { ...LocalTarget.parse({ scheduler: "local", maxConcurrent, graceSeconds }), workdir };
  const deps = reached === undefined ? { now: Date.now } : { now: Date.now, reached };
  return createLocalAdapter({ name: "here", instance: INSTANCE, target }, deps);
}

/** Processes that carry the job's directory in their environment. */
export function carriers(directory: string): string[] {
  const look = 'grep -lzxF "TAILRACE_TASK_DIR=$1" /proc/[0-9]*/environ 2>/dev/null';
  const { stdout } = spawnSync("sh", ["-c", look, "sh", directory], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line !== "");
}

/** Starts a process that submits a job; see local-submitter.ts. */
export function spawnSubmitter(workdir: string, moment: string, request: SubmitRequest): ChildProcess {
  const script = join(import.meta.dirname, "local-submitter.ts");
  const words = ["--import", "tsx", script, workdir, INSTANCE, moment, JSON.stringify(request)];
  return spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
}

/** Programs that the adapter starts are counted by stand-ins on PATH that note the call and become the real thing. */
function countCommands(directory: string): { calls(): number; restore(): void } {
  const path = process.env["PATH"] ?? "";
  const log = join(directory, "calls");
  const bin = join(directory, "bin");
  mkdirSync(bin);
  for (const name of ["sh", "flock"]) {
    const real = spawnSync("/bin/sh", ["-c", 'command -v "$1"', "sh", name], {
      encoding: "utf8",
    }).stdout.trim();
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >> '${log}'\nexec ${real} "$@"\n`, {
      mode: 0o755,
    });
  }
  process.env["PATH"] = `${bin}:${path}`;
  return {
    calls: () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").length - 1 : 0),
    restore: () => {
      process.env["PATH"] = path;
    },
  };
}

export async function startLocalHarness(): Promise<SchedulerHarness> {
  const directory = testDirectory();
  const workdir = join(directory.path, "jobs");
  const counter = countCommands(directory.path);
  const root = (mark: string) => join(workdir, mark);
  return {
    instance: INSTANCE,
    patienceMs: 15_000,
    open: () => openLocal(workdir),
    absent: (mark) => ({ id: `${mark.slice(-26)}.1`, mark, attempt: 1 }),
    scratch: (name) => join(directory.path, name),
    leftovers: async (mark) => carriers(root(mark)),
    traces: async (mark) =>
      readdirSync(workdir, { recursive: true })
        .map(String)
        .filter((name) => name.includes(mark) || name.startsWith(".new")),
    calls: async () => counter.calls(),
    submitAndDie: async (request) => {
      const [, signal] = await once(spawnSubmitter(workdir, "accepted", request), "exit");
      if (signal !== "SIGKILL") throw new Error("the submitter was to be killed");
    },
    submitAndLoseAnswer: async (request) => {
      const adapter = openLocal(workdir, {}, async () => {
        throw new Error("the answer was lost");
      });
      const fault = await adapter.submit(request, NEVER).catch((error: unknown) => error);
      await adapter.close();
      return fault;
    },
    unreachable: async () => {
      const aside = `${workdir}.aside`;
      renameSync(workdir, aside);
      writeFileSync(workdir, "a file where the directory should be");
      return {
        adapter: openLocal(workdir),
        restore: async () => {
          spawnSync("rm", ["-f", workdir]);
          renameSync(aside, workdir);
        },
      };
    },
    occupy: () => occupy(workdir),
    foreign: () => plantForeign(workdir),
    close: async () => {
      counter.restore();
      directory.remove();
    },
  };
}

async function occupy(workdir: string): Promise<{ release(): Promise<void> }> {
  const adapter = openLocal(workdir);
  const answer = await adapter.submit(
    { mark: markOf(INSTANCE), attempt: 1, spec: scriptSpec("while :; do sleep 0.1; done") },
    NEVER,
  );
  if (answer.kind === "rejected") throw new Error(answer.reason);
  const seen = async () => (await adapter.observe([answer.job], NEVER)).get(answer.job.id)?.kind;
  await eventually(async () => {
    if ((await seen()) !== "running") throw new Error("the slot is not taken yet");
  });
  return {
    release: async () => {
      await adapter.cancel(answer.job, NEVER);
      await eventually(async () => {
        if ((await seen()) !== "ended") throw new Error("the slot is still taken");
      });
      await adapter.close();
    },
  };
}

/**
 * Somebody's process, and job directories whose claims name it: with other start ticks, with another boot, with its
 * group as the script's. A used-again pid looks like that.
 */
async function plantForeign(
  workdir: string,
): Promise<{ refs: JobRef[]; isUnharmed(): Promise<boolean>; stop(): Promise<void> }> {
  const victim = spawn("sleep", ["600"], { stdio: "ignore", detached: true });
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  const stat = readFileSync(`/proc/${victim.pid}/stat`, "utf8");
  const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  const identities = [
    `local:${victim.pid}:1:${boot}`,
    `local:${victim.pid}:${ticks}:00000000-0000-0000-0000-000000000000`,
    `slurm:${victim.pid}`,
  ];
  const refs = identities.map((identity): JobRef => {
    const mark = markOf(INSTANCE);
    const own = join(workdir, mark, ".tailrace");
    mkdirSync(own, { recursive: true });
    writeFileSync(
      join(own, "attempt.1"),
      '{"attempt":1,"order":"000000000000001","cpus":1,"walltimeSeconds":9}',
    );
    writeFileSync(join(own, "claim.1"), `${identity}\n`);
    const script = { pid: victim.pid, ticks: "1" };
    writeFileSync(
      join(own, "life.0.json"),
      JSON.stringify({ life: 0, attempt: 1, identity, host: "unknown", startedAtMs: 1, script }),
    );
    return { id: `${mark.slice(-26)}.1`, mark, attempt: 1 };
  });
  return {
    refs: [...refs, { id: String(victim.pid), mark: `tr-other-${"a".repeat(26)}`, attempt: 1 }],
    isUnharmed: async () => victim.exitCode === null && victim.signalCode === null,
    stop: async () => {
      const ended = once(victim, "exit");
      victim.kill("SIGKILL");
      await ended;
    },
  };
}
