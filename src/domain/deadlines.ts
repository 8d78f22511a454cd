import type { TaskRecord } from "./task.ts";

/** ttl counts from the end: a new task starts with max(keep, 2 × walltime) and never shrinks while it lives. */
export function initialTtl(createdAtMs: number, keepMs: number, walltimeSeconds: number): number {
  return createdAtMs + Math.max(keepMs, 2 * walltimeSeconds * 1000);
}

/** The expiry to extend a living task to, once less than half of its grant is left; null while nothing is due. */
export function dueExtension(record: TaskRecord, nowMs: number): number | null {
  if (record.phase === "ended") return null;
  const grantMs = Math.max(record.keepMs, 2 * record.walltimeSeconds * 1000);
  return record.expiresAtMs - nowMs < grantMs / 2 ? nowMs + grantMs : null;
}

/** At the end: the end plus keep, which may be earlier than what was granted while the task lived. */
export function outputTtl(record: TaskRecord, endedAtMs: number): number {
  return Math.max(record.createdAtMs + 1, endedAtMs + record.keepMs);
}
