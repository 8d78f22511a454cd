import { type Cluster, clusterFromEnv } from "../support/slurm/cluster.ts";
import { holdMany } from "../support/slurm/crowd.ts";
import { openSlurm, slurmDirectory } from "../support/slurm/harness.ts";
import { clusterProblem } from "../support/slurm/named-conf.ts";
import { type Figure, median, round } from "./report.ts";

const JOBS = 1_000;
const ROUNDS = 15;

/** One look at many jobs against one bare look at the same queue, in turn. Nothing where no cluster is named. */
export async function benchSlurm(): Promise<Figure[]> {
  const problem = clusterProblem();
  if (problem !== null) {
    process.stdout.write(`     Slurm is not measured: ${problem}\n`);
    return [];
  }
  const cluster = clusterFromEnv();
  const directory = slurmDirectory();
  try {
    return [await benchObserve(cluster, directory.workdir)];
  } finally {
    await cluster.run(["scancel", "--user=root"]);
    directory.remove();
  }
}

async function benchObserve(cluster: Cluster, workdir: string): Promise<Figure> {
  const jobs = await holdMany(cluster, workdir, JOBS);
  const adapter = openSlurm(workdir);
  const signal = AbortSignal.timeout(300_000);
  const ours: number[] = [];
  const bare: number[] = [];
  for (let turn = 0; turn <= ROUNDS; turn += 1) {
    const [looked, took] = await timed(() => adapter.observe(jobs, signal));
    const unseen = [...looked.values()].filter(({ kind }) => kind !== "held").length;
    if (unseen > 0) throw new Error(`${unseen} of ${JOBS} jobs were not seen as held`);
    const [, bareTook] = await timed(() => cluster.run(["squeue", "-h", "-t", "all"]));
    // The first turn warms both up.
    if (turn === 0) continue;
    ours.push(took);
    bare.push(bareTook);
  }
  await adapter.close();
  return {
    what: `observe of ${round(JOBS)} Slurm jobs ÷ one bare squeue of the same queue`,
    value: median(ours) / median(bare),
    unit: "×",
    bound: 1.5,
    rule: "at_most",
    detail: `median ${round(median(ours))} ms, squeue ${round(median(bare))} ms, ${ROUNDS} turns each`,
  };
}

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const begunMs = performance.now();
  const result = await work();
  return [result, performance.now() - begunMs];
}
