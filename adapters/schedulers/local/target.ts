import { z } from "zod";

/** `targets.<name>` of the configuration with `scheduler: local`: jobs are processes on this machine. */
export const LocalTarget = z.strictObject({
  scheduler: z.literal("local"),
  /** Absolute; holds one directory per job. Default: a folder of the state directory. */
  workdir: z
    .string()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    .regex(/^\/[^\x00-\x1f\x7f]*$/, "must be an absolute path without control characters")
    .optional(),
  /** Jobs that run at the same time; the others wait in order. Holds for all Tailrace processes on one workdir. */
  maxConcurrent: z.number().int().min(1).max(1024).default(1),
  /** Time between TERM and KILL when a job is stopped. */
  graceSeconds: z.number().min(0.1).max(86_400).default(10),
  pollIntervalMs: z.number().int().min(250).default(500),
});
export type LocalTarget = z.infer<typeof LocalTarget>;
