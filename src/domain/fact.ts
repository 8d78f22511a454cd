import type { JobEnd, JobRef, Observation } from "./adapter.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Outcome } from "./outcome.ts";
import type { TaskRecord, TaskResult } from "./task.ts";

/**
 * Everything that can be learned about a task. Facts are what writers bring to `apply`; one that does not fit the
 * record's phase changes nothing. `atMs` is the store's clock.
 */
export type Fact = { readonly atMs: number } & (
  | { readonly kind: "attempt_leased"; readonly attempt: number; readonly leaseUntilMs: number }
  /** The try failed or its fate is not known. `leaseUntilMs` null: nothing was sent, so nobody need wait it out. */
  | { readonly kind: "attempt_uncertain"; readonly why: string; readonly leaseUntilMs: number | null }
  | { readonly kind: "submitted"; readonly job: JobRef }
  /** Refused by the scheduler, or cancelled with no attempt outstanding: no job runs, none will. */
  | { readonly kind: "not_submitted"; readonly cause: "rejected" | "cancelled"; readonly reason: string }
  | { readonly kind: "observed"; readonly observation: Observation }
  | { readonly kind: "cancel_requested"; readonly by: string }
  | { readonly kind: "input_requested"; readonly key: string; readonly request: JsonObject }
  | { readonly kind: "input_answered"; readonly key: string; readonly answer: Json }
  | { readonly kind: "input_delivered"; readonly key: string }
  /** Follow drained the logs and collected the outputs. */
  | { readonly kind: "concluded"; readonly outcome: Outcome; readonly result: TaskResult }
  /** The job is gone, but its mark has another one: nothing is lost while that is so. */
  | { readonly kind: "other_job_found"; readonly job: JobRef }
  /** Every witness was asked over the configured time, and none knows the job. */
  | { readonly kind: "lost"; readonly why: string }
  /** The operator gives the task up, whatever becomes of its job: the only end without a witness. */
  | { readonly kind: "forgotten"; readonly by: string; readonly why: string }
  | { readonly kind: "ttl_extended"; readonly expiresAtMs: number }
);

export type FactOf<K extends Fact["kind"]> = Extract<Fact, { kind: K }>;

/** True when the job stopped because we asked, and not by itself before (DESIGN 6, "Cancelled"). */
export function stoppedByUs(cancelAtMs: number | null, end: JobEnd): boolean {
  if (cancelAtMs === null) return false;
  if (!end.started) return true;
  if (end.kind === "timeout" || end.kind === "out_of_memory") return false;
  return end.kind === "cancelled" || end.termAtMs !== null;
}

/** When the cancel was asked; null when it was not, or only after the job's end was known: then it stopped nothing. */
export function cancelInTime(record: TaskRecord): number | null {
  const { cancel, collectingAtMs } = record;
  if (cancel === null) return null;
  return collectingAtMs === null || cancel.atMs <= collectingAtMs ? cancel.atMs : null;
}
