import { clusterProblem } from "./named-conf.ts";

/** Vitest's global setup of runs without a cluster. */
export function setup(): void {
  process.stderr.write(`The Slurm tests (test/slurm) are not run: ${clusterProblem()}\n`);
}
