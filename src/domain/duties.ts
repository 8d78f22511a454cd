import { hasEnded, type TaskRecord } from "./task.ts";

/**
 * What still has to be done for a task. Duties follow from the record alone: the store writes them in the same call as
 * the fact that causes them and takes them away only with the fact that fulfils them. Queues merely hasten them.
 */
export type Duty =
  | { readonly kind: "submit" | "watch" | "follow" | "cancel" }
  | { readonly kind: "deliver"; readonly key: string };
export type DutyKind = Duty["kind"];

/** All duties of a record, as they stand in the due-set. */
export function dutiesOf(record: TaskRecord): Duty[] {
  if (hasEnded(record)) return [];
  const duties: Duty[] = [];
  if (record.phase === "accepted" || record.phase === "submitting") return [{ kind: "submit" }];
  if (record.phase !== "collecting" || record.end?.settled === false) duties.push({ kind: "watch" });
  if (record.phase === "running" || record.phase === "suspended" || record.phase === "collecting") {
    duties.push({ kind: "follow" });
  }
  if (record.phase === "collecting") return duties;
  if (record.cancel !== null) duties.push({ kind: "cancel" });
  for (const input of record.inputs) {
    if (input.answeredAtMs !== null && input.deliveredAtMs === null)
      duties.push({ kind: "deliver", key: input.key });
  }
  return duties;
}

/** The due-set's member for a duty: `kind:taskId` or `deliver:taskId:key`. */
export function dutyMember(taskId: string, duty: Duty): string {
  return duty.kind === "deliver" ? `deliver:${taskId}:${duty.key}` : `${duty.kind}:${taskId}`;
}

/** Reads a member back; null for text that is none. Task ids hold no colon; input keys may. */
export function parseDutyMember(member: string): { taskId: string; duty: Duty } | null {
  const match = /^(submit|watch|follow|cancel|deliver):([^:]+)(?::(.*))?$/s.exec(member);
  const [, kind, taskId, key] = match ?? [];
  if (kind === undefined || taskId === undefined) return null;
  if (kind === "deliver") return key === undefined ? null : { taskId, duty: { kind, key } };
  if (kind === "submit" || kind === "watch" || kind === "follow" || kind === "cancel") {
    return key === undefined ? { taskId, duty: { kind } } : null;
  }
  return null;
}

export type DutyChange = { readonly add: readonly string[]; readonly remove: readonly string[] };

/** What a step from one record to the next changes in the due-set. */
export function dutyChange(before: TaskRecord | null, after: TaskRecord): DutyChange {
  const had = before === null ? [] : dutiesOf(before).map((duty) => dutyMember(before.id, duty));
  const has = dutiesOf(after).map((duty) => dutyMember(after.id, duty));
  return { add: has.filter((m) => !had.includes(m)), remove: had.filter((m) => !has.includes(m)) };
}
