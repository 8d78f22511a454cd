import type { JobEnd, Observation } from "./adapter.ts";
import { applyEnd } from "./ending.ts";
import { type EventDraft, lifecycleEvent } from "./event.ts";
import type { FactOf } from "./fact.ts";
import { newLife } from "./life.ts";
import { changed, type Step, unchanged } from "./step.ts";
import type { TaskRecord } from "./task.ts";

type Observed = FactOf<"observed">;
type Seen<K extends Observation["kind"]> = Extract<Observation, { kind: K }>;

/** A job that was seen alive is neither out of sight nor about to end. */
const ALIVE = { unseen: null, sighting: null } as const;

/** What the scheduler says about the job, joined to the record. */
export function applyObservation(record: TaskRecord, fact: Observed): Step {
  if (record.job === null) return unchanged(record);
  const seen = fact.observation;
  switch (seen.kind) {
    case "unknown":
      return unseen(record, fact, seen);
    case "ended":
      return ended(record, fact, seen.end);
    case "queued":
    case "held":
      return waiting(record, fact, seen);
    case "running":
      return running(record, fact, seen);
    case "suspended":
      return suspended(record, fact, seen);
    default:
      return seen satisfies never;
  }
}

function ended(record: TaskRecord, fact: Observed, end: JobEnd): Step {
  if (end.requeues >= record.life) return applyEnd(record, fact.atMs, end);
  // A claim that was taken away from the job shuts out every life, whether it says which or not.
  if (end.witness === "claim") return applyEnd(record, fact.atMs, { ...end, requeues: record.life });
  // Accounting can lag behind a requeue: what it says of an older life is no witness of the present one. Should nobody
  // ever know more, the present one is gone.
  return unseen(record, fact, { why: "only the end of an earlier run is known", gone: true });
}

function unseen(
  record: TaskRecord,
  fact: Observed,
  { why, gone }: Pick<Seen<"unknown">, "why" | "gone">,
): Step {
  if (record.phase === "collecting") return unchanged(record);
  const { atMs } = fact;
  const before = record.unseen;
  const sure = before?.gone ?? null;
  const next = {
    sinceMs: before?.sinceMs ?? atMs,
    looks: (before?.looks ?? 0) + 1,
    why,
    gone: gone ? { sinceMs: sure?.sinceMs ?? atMs, looks: (sure?.looks ?? 0) + 1 } : sure,
  };
  const said = { phase: record.phase, message: `the job is out of sight: ${why}` };
  const events = before === null ? [lifecycleEvent("task.status", fact.atMs, said)] : [];
  return changed(record, fact, { unseen: next }, events);
}

/** A look that brought nothing new, except perhaps that the job is in sight again. */
function asBefore(record: TaskRecord, fact: Observed): Step {
  if (record.unseen === null && record.sighting === null) return unchanged(record);
  return changed(record, fact, ALIVE, []);
}

/**
 * The scheduler's own count of requeues says whether this is a new life. The same count after a run or an end means that
 * the life goes on. (Counting one up by guess would make every later end look like that of an older life.)
 */
function newerLife(record: TaskRecord, fact: Observed, requeues: number): ReturnType<typeof newLife> | null {
  return requeues > record.life ? newLife(requeues, fact.atMs) : null;
}

/** A job that waits, perhaps once more. */
function waiting(record: TaskRecord, fact: Observed, seen: Seen<"queued" | "held">): Step {
  const next = newerLife(record, fact, seen.requeues);
  if (next === null && record.phase === seen.kind && record.reason === seen.reason)
    return asBefore(record, fact);
  const type = seen.kind === "held" ? "job.held" : "job.queued";
  const said = lifecycleEvent(type, fact.atMs, { reason: seen.reason });
  const fields = {
    ...ALIVE,
    ...next?.fields,
    phase: seen.kind,
    reason: seen.reason,
    end: null,
    collectingAtMs: null,
  } as const;
  return changed(record, fact, fields, next === null ? [said] : [next.event, said]);
}

function running(record: TaskRecord, fact: Observed, seen: Seen<"running">): Step {
  const next = newerLife(record, fact, seen.requeues);
  const sameNodes = record.nodes.join("\n") === seen.nodes.join("\n");
  if (record.phase === "running" && next === null && record.reason === seen.reason && sameNodes) {
    return asBefore(record, fact);
  }
  const begunAtMs = next === null ? record.startedAtMs : null;
  const fields = {
    ...ALIVE,
    ...next?.fields,
    phase: "running",
    reason: seen.reason,
    nodes: seen.nodes,
    startedAtMs: begunAtMs ?? seen.sinceMs ?? fact.atMs,
    end: null,
    collectingAtMs: null,
  } as const;
  const life = next === null ? record.life : seen.requeues;
  const started = lifecycleEvent("job.started", fact.atMs, { nodes: seen.nodes, life });
  const events = next === null ? resumption(record, fact.atMs, started) : [next.event, started];
  return changed(record, fact, fields, events);
}

function resumption(record: TaskRecord, atMs: number, started: EventDraft): EventDraft[] {
  if (record.phase === "running") return [];
  return [record.startedAtMs !== null ? lifecycleEvent("job.resumed", atMs) : started];
}

/** A job that is suspended has started, even when nobody saw it run. */
function suspended(record: TaskRecord, fact: Observed, seen: Seen<"suspended">): Step {
  const already = record.phase === "suspended";
  if (already && record.reason === seen.reason) return asBefore(record, fact);
  const fields = {
    ...ALIVE,
    phase: "suspended",
    reason: seen.reason,
    startedAtMs: record.startedAtMs ?? fact.atMs,
    end: null,
    collectingAtMs: null,
  } as const;
  if (already) return changed(record, fact, fields, []);
  const started = { nodes: record.nodes, life: record.life };
  return changed(record, fact, fields, [
    ...(record.startedAtMs === null ? [lifecycleEvent("job.started", fact.atMs, started)] : []),
    lifecycleEvent("job.suspended", fact.atMs, { reason: seen.reason }),
  ]);
}
