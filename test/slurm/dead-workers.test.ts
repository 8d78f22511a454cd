import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { eventually } from "../support/eventually.ts";
import { clusterFromEnv } from "../support/slurm/cluster.ts";
import { writeGate } from "../support/slurm/fronts.ts";
import { slurmDirectory } from "../support/slurm/harness.ts";
import {
  batches,
  beginRound,
  COUNTING_SCRIPT,
  createTable,
  judgeRound,
  ROUNDS,
  type Round,
  type Site,
  type Verdict,
} from "../support/slurm/rounds.ts";
import { startTopology, type Topology } from "../support/topology.ts";

const MINUTES = 60_000 * Math.max(2, ROUNDS);

/** Where a worker is when it dies, each a target of its own. `isHit`: whether the verdict shows that it was there. */
const MOMENTS = {
  after: {
    words: "when sbatch was accepted, before the job's id was recorded",
    isHit: ({ left, attempt }: Verdict) => left === 0 && attempt === 1,
  },
  before: {
    words: "before sbatch, which goes on without it",
    isHit: ({ left, attempt }: Verdict) => left === 0 && attempt === 1,
  },
  late: {
    words: "before sbatch, which goes on only when another worker has given it up",
    isHit: ({ left, attempt }: Verdict) => left === 1 && attempt === 2,
  },
} as const;
type Moment = keyof typeof MOMENTS;
const ALL: readonly Moment[] = ["after", "before", "late"];

const cluster = clusterFromEnv();
const directory = slurmDirectory();
const table = createTable(`dead workers, ${ROUNDS} rounds per fault`);
const reached = join(directory.path, "reached");
const opened = join(directory.path, "opened");
let topology: Topology;
let site: Site;

beforeAll(async () => {
  mkdirSync(reached);
  const targets: JsonObject = {};
  const tools: Record<string, JsonObject> = { healthy: countingTool("healthy") };
  for (const name of [...ALL, "healthy"] as const) {
    const workdir = join(directory.workdir, name);
    mkdirSync(workdir);
    const base = { scheduler: "slurm", workdir, slurmConf: cluster.conf, pollSeconds: 1 };
    targets[name] = base;
    if (name === "healthy") continue;
    const sbatch = writeGate(join(directory.path, `sbatch-${name}`), name, { reached, opened });
    targets[name] = { ...base, commands: { sbatch } };
    tools[name] = countingTool(name);
  }
  topology = await startTopology({ targets, tools, tuning: { submitTimeoutMs: 6_000 } });
  site = { cluster, startsFile: topology.startsFile, url: () => topology.server.url() };
}, 60_000);

afterAll(async () => {
  await topology?.stop();
  await cluster.tryRun(["scancel", "--user=root"]);
  directory.remove();
  table.print();
}, 60_000);

function countingTool(target: string): JsonObject {
  return {
    target,
    input: { run: { type: "string" } },
    run: { script: COUNTING_SCRIPT },
    solver: "openfoam",
    idempotency: "required",
    resources: { walltime: "2m" },
    options: { requeue: false },
  };
}

type Begun = { readonly moment: Moment; readonly round: Round };

/** Begins a batch per moment and waits until each of their submits has come to where its worker is to die. */
async function beginAll(fault: string, numbers: readonly number[]): Promise<Begun[]> {
  rmSync(opened, { force: true });
  const before = readdirSync(reached).length;
  const begun = await Promise.all(
    ALL.flatMap((moment) =>
      numbers.map(async (number) => {
        const round = await beginRound(site, moment, `${fault}-${moment}-${number}`);
        return { moment, round };
      }),
    ),
  );
  await eventually(() => {
    const there = readdirSync(reached).length - before;
    if (there !== begun.length) throw new Error(`${there} of ${begun.length} are there\n${topology.logs()}`);
  }, 5_000);
  return begun;
}

async function judgeAll(fault: string, begun: readonly Begun[]): Promise<void> {
  const judged = begun.map(async ({ moment, round }) => {
    const verdict = await judgeRound(site, round);
    const { words, isHit } = MOMENTS[moment];
    table.add(`${fault} ${words}`, verdict, isHit(verdict));
    return [
      ...verdict.faults,
      ...(isHit(verdict) ? [] : [`${round.run} was not hit: ${JSON.stringify(verdict)}`]),
    ];
  });
  const faults = (await Promise.all(judged)).flat();
  if (faults.length > 0) throw new Error(`${faults.join("\n")}\n${topology.logs()}`);
}

test("a worker that is killed while it submits leaves each job started once", {
  timeout: MINUTES,
}, async () => {
  for (const numbers of batches(ROUNDS)) {
    const begun = await beginAll("killed", numbers);
    await topology.worker.kill();
    writeFileSync(opened, "");
    await topology.worker.start();
    await judgeAll("killed", begun);
  }
});

test("a worker that freezes while it submits, and goes on when another has taken over, leaves each job started once", {
  timeout: MINUTES,
}, async () => {
  for (const numbers of batches(ROUNDS)) {
    const begun = await beginAll("frozen", numbers);
    const { worker, spare } = topology;
    process.kill(worker.pid(), "SIGSTOP");
    try {
      writeFileSync(opened, "");
      await spare.start();
      await Promise.all(begun.map(({ round }) => submittedOf(round)));
    } finally {
      process.kill(worker.pid(), "SIGCONT");
    }
    await spare.stop();
    // It has dealt with what it found when it went on once it has brought another job to its end.
    const healthy = await judgeRound(site, await beginRound(site, "healthy", `healthy-${numbers[0]}`));
    expect(healthy.faults).toEqual([]);
    await judgeAll("frozen", begun);
  }
});

function submittedOf(round: Round): Promise<void> {
  return eventually(() => {
    if (round.seen("job.submitted").length === 0)
      throw new Error(`${round.run} has no job\n${topology.logs()}`);
  }, 40_000);
}
