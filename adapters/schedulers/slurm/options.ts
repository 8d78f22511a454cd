import { z } from "zod";
import type { JobSpec } from "../../../src/domain/adapter.ts";

const word = z
  .string()
  .min(1)
  .max(1000)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  .regex(/^[^\x00-\x1f\x7f]*$/, "must not hold control characters");
const count = z.number().int().min(1).max(1_000_000);
const line = z
  .string()
  .max(10_000)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  .regex(/^[^\x00\r\n]*$/, "must be one line");

/** Options of sbatch that are set here: given once more they would lose the job, its log or its id. */
const OURS = new Set(
  (
    "array chdir clusters comment error export export-file get-user-env gid help input job-name no-requeue open-mode " +
    "output parsable quiet requeue test-only uid usage verbose version wait wrap"
  ).split(" "),
);

const extra = word.superRefine((text, context) => {
  const name = /^--([a-z][a-z0-9-]*)(?:=|$)/.exec(text)?.[1];
  const fault =
    name === undefined
      ? "must be one long option of sbatch with its value, like --switches=1"
      : [...OURS].some((ours) => ours.startsWith(name))
        ? `--${name} is set by Tailrace, or would hide the job from it`
        : null;
  if (fault !== null) context.addIssue({ code: "custom", message: fault });
});

/**
 * `options` of a tool, and `defaults` of a target, with `scheduler: slurm`. Each is the sbatch option of that name; what
 * is not given is left to the cluster. `resources` gives the rest: cpus → --cpus-per-task, memory → --mem (per node),
 * walltime → --time, gpus → --gres=gpu:N (per node).
 */
export const SlurmOptions = z.strictObject({
  partition: word.optional(),
  account: word.optional(),
  qos: word.optional(),
  constraint: word.optional(),
  reservation: word.optional(),
  licenses: word.optional(),
  /** Takes the place of the --gres that `resources.gpus` makes. */
  gres: word.optional(),
  nodes: z
    .union([count, z.string().regex(/^\d+(-\d+)?$/, "must be a number or a range like 2-4")], {
      error: "must be a number or a range like 2-4",
    })
    .optional(),
  /** MPI ranks (--ntasks); each gets `resources.cpus`. */
  tasks: count.default(1),
  tasksPerNode: count.optional(),
  exclusive: z.boolean().default(false),
  nice: z.number().int().min(-2_147_483_645).max(2_147_483_645).optional(),
  /** Absent: as the cluster has it. `false`: a job that a node or a preemption took ends, and ends are told at once. */
  requeue: z.boolean().optional(),
  /** Off unless given: `--mail-type` and `--mail-user`. */
  mail: z.strictObject({ user: word, type: word.default("END,FAIL") }).optional(),
  /** Loaded with `module load` in a login shell before the job starts. */
  modules: z
    .array(z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.+/-]*$/, "must be a module's name"))
    .default([]),
  /** Lines of bash that run before the job starts, after the modules. */
  preamble: z.array(line).default([]),
  /** Further options of sbatch, each whole: `--switches=1`. */
  extra: z.array(extra).default([]),
});
export type SlurmOptions = z.infer<typeof SlurmOptions>;

export type ReadOptions =
  | { readonly options: SlurmOptions; readonly problem: null }
  | { readonly options: null; readonly problem: string };

export function readOptions(spec: JobSpec): ReadOptions {
  const parsed = SlurmOptions.safeParse(spec.options);
  if (parsed.success) return { options: parsed.data, problem: null };
  const problem = parsed.error.issues
    .map((issue) => `options.${issue.path.join(".")}: ${issue.message}`)
    .join("; ");
  return { options: null, problem };
}
