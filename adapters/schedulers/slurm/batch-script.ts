import { shellWord } from "../shared/job-files.ts";
import type { JobLayout } from "../shared/job-layout.ts";
import type { SlurmOptions } from "./options.ts";

/** EX_CANTCREAT is the wrapper's word for "cannot begin"; the same for modules that do not load. */
const CANNOT_BEGIN = 73;

/**
 * What sbatch is given on stdin: prepares the environment and becomes the wrapper. Everything in it is the operator's or
 * ours. `SLURM_EXPORT_ENV=NONE`, which comes of --export=NONE, would keep srun from handing the environment on to MPI
 * ranks, so it goes.
 */
export function batchScript(layout: JobLayout, attempt: number, options: SlurmOptions): string {
  const needsLogin = options.modules.length > 0 || options.preamble.length > 0;
  const problem = shellWord(layout.problem(attempt));
  const why = `a module could not be loaded: ${options.modules.join(" ")}`;
  const load = [
    `module load ${options.modules.map(shellWord).join(" ")} || {`,
    `  printf '%s\\n' ${shellWord(why)} | tee ${problem} >&2`,
    `  exit ${CANNOT_BEGIN}`,
    "}",
  ];
  const { wrapper, root } = layout;
  const lines = [
    needsLogin ? "#!/bin/bash -l" : "#!/bin/sh",
    "unset SLURM_EXPORT_ENV",
    ...(options.modules.length > 0 ? load : []),
    ...options.preamble,
    "umask 077",
    `exec sh ${shellWord(wrapper)} ${shellWord(root)} ${attempt} "slurm:$SLURM_JOB_ID" 0 0 "\${SLURM_RESTART_COUNT:-0}"`,
  ];
  return `${lines.join("\n")}\n`;
}

/** The identity that the wrapper of this batch job writes into its claim. */
export function identityOf(id: string): string {
  return `slurm:${id}`;
}

/** The batch job's id, or null when a claim is held by something else. */
export function idOfIdentity(identity: string): string | null {
  return /^slurm:([1-9]\d*)$/.exec(identity)?.[1] ?? null;
}
