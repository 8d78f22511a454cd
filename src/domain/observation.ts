import type { JobEnd, Observation } from "./adapter.ts";
import { type EventDraft, lifecycleEvent } from "./event.ts";
import { type FactOf, stoppedByUs } from "./fact.ts";
import { NO_FINDINGS } from "./findings.ts";
import { concludeOutcome } from "./outcome.ts";
import { changed, end, type Step, unchanged } from "./step.ts";
import type { TaskRecord } from "./task.ts";

type Observed = FactOf<"observed">;

/** Two looks this far apart must agree before an end counts that could still be undone by a requeue, in ms. */
export const AGREEMENT_MS = 10_000;

/** What the scheduler says about the job, joined to the record. */
export function applyObservation(record: TaskRecord, fact: Observed): Step {
  if (record.job === null) return unchanged(record);
  const seen = fact.observation;
  if (seen.kind === "unknown") return unseen(record, fact, seen.why);
  if (seen.kind === "ended") return ended(record, fact, seen.end);
  const clear = record.unseen === null && record.sighting === null ? {} : { unseen: null, sighting: null };
  switch (seen.kind) {
    case "queued":
    case "held":
      return waiting(record, fact, seen, clear);
    case "running":
      return running(record, fact, seen, clear);
    case "suspended":
      return suspended(record, fact, seen, clear);
    default:
      return seen satisfies never;
  }
}

function unseen(record: TaskRecord, fact: Observed, why: string): Step {
  if (record.phase === "collecting") return unchanged(record);
  const before = record.unseen;
  const next =
    before === null ? { sinceMs: fact.atMs, looks: 1, why } : { ...before, looks: before.looks + 1, why };
  return changed(record, fact, { unseen: next }, []);
}

/** A job that waits again after it ran was requeued: a new life begins. */
function waiting(
  record: TaskRecord,
  fact: Observed,
  seen: Extract<Observation, { kind: "queued" | "held" }>,
  clear: Partial<TaskRecord>,
): Step {
  const ran = record.phase === "running" || record.phase === "suspended" || record.phase === "collecting";
  if (!ran && record.phase === seen.kind && record.reason === seen.reason) {
    return Object.keys(clear).length === 0 ? unchanged(record) : changed(record, fact, clear, []);
  }
  const said: EventDraft = lifecycleEvent(seen.kind === "held" ? "job.held" : "job.queued", fact.atMs, {
    reason: seen.reason,
  });
  const fields = { ...clear, phase: seen.kind, reason: seen.reason } as const;
  if (!ran) return changed(record, fact, fields, [said]);
  const rebirth = { life: record.life + 1, end: null, collectingAtMs: null, startedAtMs: null, nodes: [] };
  return changed(record, fact, { ...fields, ...rebirth }, [requeued(record.life + 1, fact.atMs), said]);
}

function requeued(life: number, atMs: number): EventDraft {
  return lifecycleEvent("job.requeued", atMs, { life });
}

function running(
  record: TaskRecord,
  fact: Observed,
  seen: Extract<Observation, { kind: "running" }>,
  clear: Partial<TaskRecord>,
): Step {
  const life = Math.max(record.life, seen.requeues);
  const newLife = life > record.life || record.phase === "collecting";
  if (record.phase === "running" && !newLife && record.reason === seen.reason) {
    return Object.keys(clear).length === 0 ? unchanged(record) : changed(record, fact, clear, []);
  }
  const events: EventDraft[] = [];
  const nextLife = newLife ? Math.max(life, record.life + 1) : record.life;
  if (newLife) events.push(requeued(nextLife, fact.atMs));
  if (record.phase === "suspended" && !newLife) events.push(lifecycleEvent("job.resumed", fact.atMs));
  else if (record.phase !== "running" || newLife) {
    events.push(lifecycleEvent("job.started", fact.atMs, { nodes: seen.nodes, life: nextLife }));
  }
  const resumed = record.phase === "suspended" && !newLife;
  const fields = {
    ...clear,
    phase: "running",
    reason: seen.reason,
    nodes: seen.nodes,
    life: nextLife,
    startedAtMs: (resumed ? record.startedAtMs : null) ?? seen.sinceMs ?? fact.atMs,
    end: null,
    collectingAtMs: null,
  } as const;
  return changed(record, fact, fields, events);
}

function suspended(
  record: TaskRecord,
  fact: Observed,
  seen: Extract<Observation, { kind: "suspended" }>,
  clear: Partial<TaskRecord>,
): Step {
  if (record.phase === "suspended") return unchanged(record);
  return changed(record, fact, { ...clear, phase: "suspended", reason: seen.reason }, [
    lifecycleEvent("job.suspended", fact.atMs, { reason: seen.reason }),
  ]);
}

/**
 * Watch ends a task only when the script never began; a job that started goes to `collecting`, and follow ends it. An
 * end that is not settled counts when a look at least AGREEMENT_MS later says the same.
 */
function ended(record: TaskRecord, fact: Observed, seen: JobEnd): Step {
  if (record.phase === "collecting") return unchanged(record);
  if (!seen.settled && !agrees(record, fact.atMs, seen)) {
    const sighting =
      record.sighting?.end.kind === seen.kind ? record.sighting : { end: seen, atMs: fact.atMs };
    return sighting === record.sighting
      ? unchanged(record)
      : changed(record, fact, { sighting, unseen: null }, []);
  }
  const said = lifecycleEvent("job.ended", fact.atMs, {
    end: seen.kind,
    exitCode: seen.exitCode,
    signal: seen.signal,
    reason: seen.reason,
    witness: seen.witness,
  });
  if (!seen.started) {
    const outcome = concludeOutcome(seen, NO_FINDINGS, stoppedByUs(record.cancel?.atMs ?? null, seen));
    return end({ ...record, end: seen }, fact.atMs, outcome, { events: [said] });
  }
  const late = record.phase === "running" || record.phase === "suspended";
  const startedAtMs = record.startedAtMs ?? seen.startedAtMs ?? fact.atMs;
  const started = late
    ? []
    : [
        lifecycleEvent("job.started", fact.atMs, {
          nodes: seen.node === null ? [] : [seen.node],
          life: seen.requeues,
        }),
      ];
  const fields = {
    phase: "collecting",
    end: seen,
    collectingAtMs: fact.atMs,
    sighting: null,
    unseen: null,
    reason: null,
    startedAtMs,
    life: Math.max(record.life, seen.requeues),
    nodes: record.nodes.length > 0 || seen.node === null ? record.nodes : [seen.node],
  } as const;
  return changed(record, fact, fields, [...started, said]);
}

function agrees(record: TaskRecord, atMs: number, seen: JobEnd): boolean {
  const before = record.sighting;
  return before !== null && before.end.kind === seen.kind && atMs - before.atMs >= AGREEMENT_MS;
}
