import { outputTtl } from "./deadlines.ts";
import { type EventDraft, lifecycleEvent } from "./event.ts";
import type { Outcome } from "./outcome.ts";
import type { TaskRecord } from "./task.ts";

/** The next record with the events of the step. An unchanged record is the very same object, with no events. */
export type Step = { readonly record: TaskRecord; readonly events: readonly EventDraft[] };

export function unchanged(record: TaskRecord): Step {
  return { record, events: [] };
}

/** A step that raises phaseRev. */
export function changed(
  record: TaskRecord,
  fact: { readonly atMs: number },
  fields: Partial<TaskRecord>,
  events: readonly EventDraft[],
): Step {
  const updatedAtMs = Math.max(record.updatedAtMs, fact.atMs);
  return { record: { ...record, ...fields, updatedAtMs, phaseRev: record.phaseRev + 1 }, events };
}

/** The only way to `ended`; its event is the last of the task. */
export function end(
  record: TaskRecord,
  atMs: number,
  outcome: Outcome,
  more: { readonly result?: TaskRecord["result"]; readonly events: readonly EventDraft[] },
): Step {
  const fields = {
    phase: "ended",
    outcome,
    result: more.result ?? null,
    endedAtMs: atMs,
    leaseUntilMs: null,
    sighting: null,
    unseen: null,
    expiresAtMs: outputTtl(record, atMs),
  } as const;
  return changed(record, { atMs }, fields, [
    ...more.events,
    lifecycleEvent("task.ended", atMs, { outcome: { ...outcome } }),
  ]);
}
