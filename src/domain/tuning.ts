import { z } from "zod";

const ms = z.number().int().positive();

/** The numbers behind the workers, in ms unless named otherwise. One set per process, from the configuration. */
export const Tuning = z.strictObject({
  /** Cuts short what the scheduler's adapter allows one submit (`limits.submitMs`); absent: as long as that. */
  submitTimeoutMs: ms.optional(),
  /** The lease outlasts the submit by this much: a lease that ran out means a submitter that is gone. */
  leaseMarginMs: ms.default(10_000),
  /** How long observe, locate, cancel, deliver and one log read may take. */
  callTimeoutMs: ms.default(30_000),
  /** How often a target's jobs are looked at (the adapter's own minimum wins). */
  observeEveryMs: ms.default(500),
  /** How often overdue duties are put back into their queues. */
  upkeepEveryMs: ms.default(2_000),
  /** A duty that nobody pushed forward for this long is overdue. */
  dutyMs: ms.default(15_000),
  /** A cancel is repeated this often until the job has ended. */
  cancelAgainMs: ms.default(2_000),
  /** Events, cursor and translator state are written at most this often. */
  flushMs: ms.default(1_000),
  /** Between two reads of a log that grows; doubles while it is quiet, up to quietReadMs. */
  readMs: ms.default(200),
  quietReadMs: ms.default(2_000),
  collectTimeoutMs: ms.default(600_000),
  /** A job that no witness has, though each was asked and answered, is lost after this time and this many such looks. */
  lostAfterMs: ms.default(900_000),
  lostLooks: z.number().int().positive().default(20),
  /** How long a queue's lock outlives a worker that died, and how often that is looked for. */
  lockMs: ms.default(15_000),
  stalledMs: ms.default(5_000),
  /** Jobs followed at once by one process and target. */
  followers: z.number().int().positive().default(5_000),
  /** Caps on what is collected of one task. */
  outputs: z
    .strictObject({
      maxFiles: z.number().int().positive().default(1_000),
      maxBytes: z
        .number()
        .int()
        .positive()
        .default(100 * 1024 ** 3),
      maxResultBytes: z
        .number()
        .int()
        .positive()
        .default(1024 ** 2),
    })
    .prefault({}),
});
export type Tuning = z.infer<typeof Tuning>;
