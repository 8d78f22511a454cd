import { z } from "zod";
import { type Json, JsonObject } from "./json.ts";

/**
 * The scheduler contract. One folder under adapters/schedulers implements it; every implementation passes the same
 * suite (test/contract) on the real scheduler. The promises, which are the names of those tests:
 *
 * A1 two submits of one mark leave one job · A2 killed after the scheduler accepted, the next submit finds that job ·
 * A3 a refusal is a value and leaves nothing behind · A4 unreachable submits nothing; a timeout after sending is
 * "uncertain" · A5 observe answers for every id; missing is unknown, never ended · A6 N jobs cost one call ·
 * A7 a reported end is never contradicted · A8 cancel is repeatable and does not claim that the job stopped ·
 * A9 log chunks joined equal the log; cursors work in a new process; no byte is lost or repeated · A10 an abort returns
 * within a second and leaves no child · A11 quotes, newlines, $(), leading dashes reach the job as data · A12 never
 * touches a job that is not ours · A13 close twice leaves nothing open.
 *
 * Faults on the way to the scheduler are thrown as BridgeError; everything the scheduler itself says is a value.
 */
export type SchedulerAdapter = {
  readonly scheduler: string;
  readonly limits: AdapterLimits;
  /** Idempotent: the same mark never makes two jobs that run the script, whatever the attempt number. */
  submit(request: SubmitRequest, signal: AbortSignal): Promise<SubmitAnswer>;
  /** Which of these marks have a job. A mark without one maps to null; both need a trustworthy answer, else it throws. */
  locate(marks: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, JobRef | null>>;
  /**
   * Takes the claim of an attempt away, so that its script can never start. `seized`: that attempt will never run.
   * `started`: it holds the claim already (it runs, or has run): find it with `locate` and submit nothing.
   */
  seize(mark: string, attempt: number, signal: AbortSignal): Promise<"seized" | "started">;
  /** One answer per job, keyed by JobRef.id. Costs one scheduler call for any number of jobs up to observeBatch. */
  observe(jobs: readonly JobRef[], signal: AbortSignal): Promise<ReadonlyMap<string, Observation>>;
  /** Asks for a stop. `asked` is not an end: observe reports that. Repeating escalates where the scheduler needs it. */
  cancel(job: JobRef, signal: AbortSignal): Promise<"asked" | "already_ended" | "not_found">;
  /** One answer per request, in order. Costs one round trip to the target for any number of requests. */
  readLogs(requests: readonly LogRequest[], signal: AbortSignal): Promise<LogChunk[]>;
  /** Hands an answer to a waiting job. Repeatable: the same key and value again change nothing. */
  deliver(job: JobRef, key: string, value: Json, signal: AbortSignal): Promise<void>;
  /** Lists, sizes and hashes what the job left that matches the globs; never follows a link out of the work directory. */
  collect(job: JobRef, request: CollectRequest, signal: AbortSignal): Promise<Collected>;
  /**
   * The task of this job has ended. Should the scheduler ever start the job once more, its script does not run: outputs
   * stay as they were collected. Repeatable.
   */
  retire(job: JobRef, signal: AbortSignal): Promise<void>;
  /** A dry run: would this be accepted, and when could it start? */
  estimate(spec: JobSpec, signal: AbortSignal): Promise<Estimate>;
  /** Holds, releases, suspends or resumes a job, where the scheduler and our rights on it allow that. */
  steer(job: JobRef, action: SteerAction, signal: AbortSignal): Promise<SteerAnswer>;
  /** How much the scheduler was asked by this process; calls nothing. */
  usage(): SchedulerUsage;
  /** For doctor: each line says what was looked at, whether it is well, and what to do if not. */
  check(signal: AbortSignal): Promise<CheckLine[]>;
  close(): Promise<void>;
};

export type AdapterLimits = {
  /** Jobs that one observe call may carry. */
  readonly observeBatch: number;
  /** Never observe more often than this, in ms, whatever the number of tasks. */
  readonly minObserveIntervalMs: number;
  /** How long one submit may take here, in ms, with what the scheduler's own client waits and tries again. */
  readonly submitMs: number;
  /** How long after the end a log may still grow (shared file systems are late), in ms. */
  readonly drainMs: number;
};

/** What a task runs. Fixed when the task is accepted: later changes of the configuration do not touch it. */
export const JobSpec = z.object({
  tool: z.string(),
  run: z.discriminatedUnion("kind", [
    /** `name` is the file name given by the operator; `text` the script's bytes as UTF-8; `sha256` their hash in hex. */
    z.object({ kind: z.literal("script"), name: z.string(), text: z.string(), sha256: z.string() }),
    /** Each element stays one argv element. */
    z.object({ kind: z.literal("argv"), argv: z.array(z.string()).min(1) }),
  ]),
  args: JsonObject,
  /** The job's own environment (operator's settings and TAILRACE_ARG_*); never put on a command line. */
  env: z.record(z.string(), z.string()),
  resources: z.object({
    cpus: z.number().int().positive().default(1),
    memoryMib: z.number().int().positive().optional(),
    walltimeSeconds: z.number().int().positive(),
    gpus: z.number().int().nonnegative().default(0),
  }),
  outputs: z.array(z.string()),
  solver: z.string(),
  progress: z.object({ total: z.number().optional(), unit: z.string().optional() }),
  /** Scheduler settings (partition, account, …), the target's defaults and the tool's own merged. */
  options: JsonObject,
  outputSchema: JsonObject.optional(),
  /** Name of the authenticated caller, for targets that run jobs as their callers' users. */
  caller: z.string().optional(),
  traceparent: z.string().optional(),
});
export type JobSpec = z.infer<typeof JobSpec>;

export type SubmitRequest = {
  readonly mark: string;
  /** 1, 2, …: numbers the tries of one mark; the wrapper takes `claim.<attempt>` before the first line of the script. */
  readonly attempt: number;
  readonly spec: JobSpec;
};

export const JobRef = z.object({
  id: z.string().min(1),
  mark: z.string(),
  attempt: z.number().int().positive(),
});
export type JobRef = z.infer<typeof JobRef>;

export type SubmitAnswer =
  | { readonly kind: "submitted"; readonly job: JobRef }
  /** `reason` is the scheduler's own, in words a person understands. Nothing was left behind. */
  | { readonly kind: "rejected"; readonly reason: string };

/**
 * How a job stopped, as a witness says it. `exited` it ended by itself (exitCode) · `signalled` (signal) · `cancelled`
 * the scheduler says that our or somebody's stop ended it · `vanished` the process group is gone and left no exit record.
 */
export const JobEnd = z.object({
  kind: z.enum([
    "exited",
    "signalled",
    "timeout",
    "out_of_memory",
    "cancelled",
    "node_fail",
    "preempted",
    "launch_failed",
    "vanished",
  ]),
  exitCode: z.number().int().nullable(),
  /** POSIX signal number, or null. */
  signal: z.number().int().nullable(),
  reason: z.string().nullable(),
  /** False when the script never began. */
  started: z.boolean(),
  startedAtMs: z.number().nullable(),
  endedAtMs: z.number().nullable(),
  /** When the wrapper noted a TERM, in ms; null when no stop reached the job. */
  termAtMs: z.number().nullable(),
  node: z.string().nullable(),
  /**
   * Of the life that ended, by the same count as `running`. One lower than the task's life is taken for an older run's
   * end and is not believed: where the scheduler keeps no count, the adapter must find it (exit record, earlier rows).
   */
  requeues: z.number().int().nonnegative(),
  coreSeconds: z.number().nullable(),
  /** Final sizes of the two logs when the wrapper knew them: follow drains to these. */
  bytes: z.object({ stdout: z.number(), stderr: z.number() }).nullable(),
  witness: z.enum(["accounting", "controller", "exit_record", "pod", "process", "claim"]),
  /** False: it may still be requeued; it counts once two observations at least 10 s apart agree. */
  settled: z.boolean(),
});
export type JobEnd = z.infer<typeof JobEnd>;

const requeues = z.number().int().nonnegative();

/** `requeues`: the scheduler's count for this job so far. It alone says whether a job that waits again is in a new life. */
export const Observation = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("queued"), requeues, reason: z.string().nullable() }),
  z.object({ kind: z.literal("held"), requeues, reason: z.string().nullable() }),
  z.object({
    kind: z.literal("running"),
    nodes: z.array(z.string()),
    sinceMs: z.number().nullable(),
    requeues,
    reason: z.string().nullable(),
  }),
  z.object({ kind: z.literal("suspended"), reason: z.string().nullable() }),
  z.object({ kind: z.literal("ended"), end: JobEnd }),
  /**
   * Nobody knows it. `gone`: every witness (queue, accounting, the job's files) was asked and answered, and none has the
   * job: enough such looks make it lost. False: it could not be told; a witness was silent or cannot be read.
   */
  z.object({ kind: z.literal("unknown"), why: z.string(), gone: z.boolean() }),
]);
export type Observation = z.infer<typeof Observation>;

/** stdout and stderr are the job's; messages is the file behind $TAILRACE_MESSAGES. */
export type LogSource = "stdout" | "stderr" | "messages";

/**
 * A place in a log. `offset` counts bytes of the file named by `file` (inode or equal); `total` counts all bytes ever
 * handed out for this source, over rotations and truncations.
 */
export const LogCursor = z.object({ file: z.string(), offset: z.number().int(), total: z.number().int() });
export type LogCursor = z.infer<typeof LogCursor>;

export type LogRequest = {
  readonly job: JobRef;
  readonly source: LogSource;
  readonly cursor: LogCursor | null;
  readonly maxBytes: number;
};

export type LogChunk = {
  readonly bytes: Uint8Array;
  /** Where to go on; null while the file does not exist yet. */
  readonly cursor: LogCursor | null;
  /** Nothing more to read at this moment. */
  readonly atEnd: boolean;
  /** The file was cut or replaced before these bytes: what follows is a new segment. */
  readonly restarted: boolean;
};

export type CollectRequest = {
  readonly outputs: readonly string[];
  readonly maxFiles: number;
  readonly maxBytes: number;
  readonly maxResultBytes: number;
};

export const Artifact = z.object({
  /** Path relative to the job's work directory, with "/" between parts. */
  name: z.string(),
  mediaType: z.string(),
  bytes: z.number().int().nonnegative(),
  /** Hex; null where the file is over the hashing limit. */
  sha256: z.string().nullable(),
});
export type Artifact = z.infer<typeof Artifact>;

export type Collected = {
  readonly artifacts: readonly Artifact[];
  /** What matched and was left out, and why: a link out of the directory, over the count or byte limit, unreadable. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  /** The parsed result.json of the work directory; null when there is none. */
  readonly result: Json;
  readonly resultProblem: string | null;
};

export type Estimate = {
  readonly accepted: boolean;
  readonly startsAtMs: number | null;
  readonly reason: string | null;
};

/** A waiting job is held and released; a running one is suspended and resumed. */
export type SteerAction = "hold" | "release" | "suspend" | "resume";

export type SteerAnswer =
  | { readonly kind: "done" }
  /** `reason` is the scheduler's own, in words: not permitted, wrong state, no such thing here. */
  | { readonly kind: "refused"; readonly reason: string };

/** Commands or requests sent to the scheduler: in the last minute, and by name since this process began. */
export type SchedulerUsage = {
  readonly lastMinute: number;
  readonly total: Readonly<Record<string, number>>;
};

/** Not ok with advice: a fault, and what to do. Ok with advice: it works, but perhaps not as well as it could. */
export type CheckLine = {
  readonly what: string;
  readonly ok: boolean;
  readonly found: string;
  readonly advice: string | null;
};
