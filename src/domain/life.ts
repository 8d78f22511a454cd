import { type EventDraft, lifecycleEvent } from "./event.ts";
import type { TaskRecord } from "./task.ts";

/** What a requeue makes of the record: the next run starts from nothing. */
export function newLife(life: number, atMs: number): { fields: Partial<TaskRecord>; event: EventDraft } {
  const fields = { life, end: null, collectingAtMs: null, startedAtMs: null, nodes: [] };
  return { fields, event: lifecycleEvent("job.requeued", atMs, { life }) };
}

/** True when the script of the present life is known to have begun. */
export function hasStarted(record: TaskRecord): boolean {
  return record.startedAtMs !== null || record.phase === "running" || record.phase === "suspended";
}
