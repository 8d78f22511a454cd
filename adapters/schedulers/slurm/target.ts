import { z } from "zod";

const command = z
  .string()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  .regex(/^[^-\x00-\x1f\x7f][^\x00-\x1f\x7f]*$/, "must be the name or path of a program");

/** The Slurm programs that are called, each replaceable by a path or a site's own front. */
const SlurmCommands = z.strictObject({
  sbatch: command.default("sbatch"),
  squeue: command.default("squeue"),
  sacct: command.default("sacct"),
  scancel: command.default("scancel"),
  scontrol: command.default("scontrol"),
});

/** `targets.<name>` of the configuration with `scheduler: slurm`: jobs are batch jobs of a Slurm cluster (20.11 to 26.05). */
export const SlurmTarget = z.strictObject({
  scheduler: z.literal("slurm"),
  /** Absolute, on a file system that this machine and the nodes share under one path; holds one directory per job. */
  workdir: z
    .string()
    .regex(
      /^\/[\p{L}\p{N}._/+@,:=~ -]*$/u,
      "must be an absolute path of letters, digits, blanks and . _ / + @ , : = ~ -",
    ),
  /** `--clusters` of every command, for a site with several clusters. Default: the one of slurm.conf. */
  cluster: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, "must be a cluster's name")
    .optional(),
  /** SLURM_CONF of every command. Default: this process's own, or Slurm's. */
  slurmConf: z
    .string()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    .regex(/^\/[^\x00-\x1f\x7f]*$/, "must be an absolute path")
    .optional(),
  commands: SlurmCommands.prefault({}),
  /** Time between two looks at the queue, whatever the number of jobs. */
  pollSeconds: z.number().min(1).max(3600).default(5),
  /** How long one sbatch may take. Slurm itself sleeps and tries again for up to 120 s when its queue is full. */
  submitTimeoutSeconds: z.number().min(1).max(3600).default(150),
  /** How long any other command may take. */
  queryTimeoutSeconds: z.number().min(1).max(600).default(25),
  /** `off`: sacct is never called, although slurm.conf names accounting. */
  accounting: z.enum(["auto", "off"]).default("auto"),
  /** Caller's name (`*`: any other) to the Unix user whose job it is. Needs a server that runs as root. */
  runAs: z
    .record(
      z.string(),
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, "must be the name of a Unix user"),
    )
    .optional(),
});
export type SlurmTarget = z.infer<typeof SlurmTarget>;
