import type { JsonObject } from "./json.ts";

/** An event before it is numbered. `type` is without the vendor prefix: the store adds it, with the seq. */
export type EventDraft = { readonly type: string; readonly payload: JsonObject };

/** An event as stored and sent: seq 0, 1, 2, … within its task; `type` with the vendor prefix. Never changes. */
export type TaskEvent = { readonly seq: number; readonly type: string; readonly payload: JsonObject };

/** The lifecycle vocabulary. `task.accepted` is always seq 0 and `task.ended` always the last event of its task. */
export const LIFECYCLE_EVENTS = [
  "task.accepted",
  "task.status",
  "job.submitted",
  "job.queued",
  "job.held",
  "job.started",
  "job.requeued",
  "job.suspended",
  "job.resumed",
  "input.requested",
  "input.answered",
  "cancel.requested",
  "job.ended",
  "artifact.created",
  "task.ended",
] as const;
export type LifecycleEvent = (typeof LIFECYCLE_EVENTS)[number];

/** A payload is cut to this many bytes of JSON (PROTOCOL S9). */
export const MAX_PAYLOAD_BYTES = 8192;

/** Every lifecycle payload carries `at`, ISO 8601, from the store's clock. */
export function lifecycleEvent(type: LifecycleEvent, atMs: number, payload: JsonObject = {}): EventDraft {
  return { type, payload: { at: new Date(atMs).toISOString(), ...payload } };
}
