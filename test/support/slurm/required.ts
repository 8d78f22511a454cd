import { clusterProblem } from "./named-conf.ts";

/** Vitest's global setup of runs that must not leave the Slurm tests out. */
export function setup(): void {
  const problem = clusterProblem();
  if (problem !== null) throw new Error(`the Slurm tests cannot run: ${problem}`);
}
