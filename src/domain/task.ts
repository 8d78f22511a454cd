import { z } from "zod";
import { Artifact, JobEnd, JobRef } from "./adapter.ts";
import { Json, JsonObject } from "./json.ts";
import { Outcome } from "./outcome.ts";

/**
 * Our fine-grained state. `accepted → submitting → queued ⇄ held → running ⇄ suspended → collecting → ended`;
 * `running → queued` and `collecting → queued` are legal (requeue: a new life); nothing after `ended`.
 */
export const Phase = z.enum([
  "accepted",
  "submitting",
  "queued",
  "held",
  "running",
  "suspended",
  "collecting",
  "ended",
]);
export type Phase = z.infer<typeof Phase>;

/** A question of the job to the caller. `request` is an MCP input request; a key is never used twice in a task. */
export const TaskInput = z.object({
  key: z.string(),
  request: JsonObject,
  askedAtMs: z.number(),
  answer: Json.optional(),
  answeredAtMs: z.number().nullable(),
  deliveredAtMs: z.number().nullable(),
});
export type TaskInput = z.infer<typeof TaskInput>;

/** What follow hands over at the end, beside the outcome. */
export const TaskResult = z.object({
  metrics: JsonObject,
  artifacts: z.array(Artifact),
  skipped: z.array(z.object({ name: z.string(), reason: z.string() })),
  result: Json,
  tail: z.array(z.string()),
  summary: z.string().nullable(),
});
export type TaskResult = z.infer<typeof TaskResult>;

/** The record: the control state of one task. Times are ms since the epoch by the store's clock. */
export const TaskRecord = z.object({
  id: z.string(),
  /** Fingerprint of the authenticated caller. */
  owner: z.string(),
  tool: z.string(),
  target: z.string(),
  mark: z.string(),
  createdAtMs: z.number(),
  updatedAtMs: z.number(),
  /** How long the task stays readable after its end. */
  keepMs: z.number(),
  walltimeSeconds: z.number(),
  /** When the task may be purged; grows while it lives. */
  expiresAtMs: z.number(),
  phase: Phase,
  /** Grows with every change of this record. Writers compare the value they read before asking the scheduler. */
  phaseRev: z.number().int(),
  /** 0 before the first submit; then the number of the newest try. */
  attempt: z.number().int().nonnegative(),
  /** Until when the submitter that recorded the try may still be at work. */
  leaseUntilMs: z.number().nullable(),
  job: JobRef.nullable(),
  /** Requeues so far: a job's runs are its lives 0, 1, … */
  life: z.number().int().nonnegative(),
  /** Why the scheduler keeps it waiting, in its own words made plain. */
  reason: z.string().nullable(),
  nodes: z.array(z.string()),
  queuedAtMs: z.number().nullable(),
  startedAtMs: z.number().nullable(),
  endedAtMs: z.number().nullable(),
  cancel: z.object({ atMs: z.number(), by: z.string() }).nullable(),
  inputs: z.array(TaskInput),
  /** The job's end as the scheduler tells it, known from `collecting` on. */
  end: JobEnd.nullable(),
  collectingAtMs: z.number().nullable(),
  /** An end that may still be undone by a requeue: it counts when a later look agrees. */
  sighting: z.object({ end: JobEnd, atMs: z.number() }).nullable(),
  /** Since when nobody can tell about the job. `gone`: the looks among these in which no witness has it any more. */
  unseen: z
    .object({
      sinceMs: z.number(),
      looks: z.number().int(),
      why: z.string(),
      gone: z.object({ sinceMs: z.number(), looks: z.number().int() }).nullable().default(null),
    })
    .nullable(),
  outcome: Outcome.nullable(),
  result: TaskResult.nullable(),
});
export type TaskRecord = z.infer<typeof TaskRecord>;

export function hasEnded(record: TaskRecord): boolean {
  return record.phase === "ended";
}

/** Questions that the job still waits for. None once it is over; a requeue brings them back. */
export function openInputs(record: TaskRecord): TaskInput[] {
  const over = record.phase === "collecting" || record.phase === "ended";
  return over ? [] : record.inputs.filter((input) => input.answeredAtMs === null);
}

/** A short stand-in for a task id in logs: ids are credentials. */
export function fingerprint(taskId: string): string {
  return `${taskId.slice(0, 6)}…`;
}
