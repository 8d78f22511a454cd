import type { JobEnd } from "./adapter.ts";
import { lifecycleEvent } from "./event.ts";
import { cancelInTime, stoppedByUs } from "./fact.ts";
import { NO_FINDINGS } from "./findings.ts";
import { hasStarted, newLife } from "./life.ts";
import { concludeOutcome } from "./outcome.ts";
import { changed, end, type Step, unchanged } from "./step.ts";
import type { TaskRecord } from "./task.ts";

/** Two looks this far apart must agree before an end counts that could still be undone by a requeue, in ms. */
export const AGREEMENT_MS = 10_000;

/**
 * A witness says that the job ended, in this life or in one that began and ended between two looks. An end that is not
 * settled counts when a look at least AGREEMENT_MS later says the same.
 */
export function applyEnd(record: TaskRecord, atMs: number, seen: JobEnd): Step {
  if (seen.requeues > record.life) {
    const next = newLife(seen.requeues, atMs);
    const step = endOfLife({ ...record, ...next.fields, phase: "queued", sighting: null }, atMs, seen);
    return { record: step.record, events: [next.event, ...step.events] };
  }
  return record.phase === "collecting" ? unchanged(record) : endOfLife(record, atMs, seen);
}

function endOfLife(record: TaskRecord, atMs: number, seen: JobEnd): Step {
  if (seen.settled || agrees(record, atMs, seen)) return settle(record, atMs, seen);
  const known = record.sighting !== null && sameEnd(record.sighting.end, seen) ? record.sighting : null;
  if (known !== null && record.unseen === null) return unchanged(record);
  const sighting = known ?? { end: seen, atMs };
  return changed(record, { atMs }, { sighting, unseen: null }, []);
}

/**
 * Watch ends a task only when its script never began, in any life. Once one has started there are logs and outputs: it
 * goes to `collecting`, and follow ends it. A witness that did not notice the start does not undo that we saw it run.
 */
function settle(record: TaskRecord, atMs: number, seen: JobEnd): Step {
  const started = hasStarted(record);
  const said = lifecycleEvent("job.ended", atMs, {
    end: seen.kind,
    exitCode: seen.exitCode,
    signal: seen.signal,
    reason: seen.reason,
    witness: seen.witness,
  });
  if (!seen.started && !started && record.life === 0) {
    const outcome = concludeOutcome(seen, NO_FINDINGS, stoppedByUs(cancelInTime(record), seen));
    return end({ ...record, end: seen }, atMs, outcome, { events: [said] });
  }
  const nodes = record.nodes.length > 0 || seen.node === null ? record.nodes : [seen.node];
  const fields = {
    phase: "collecting",
    end: { ...seen, started: seen.started || started },
    collectingAtMs: atMs,
    sighting: null,
    unseen: null,
    reason: null,
    startedAtMs: record.startedAtMs ?? (seen.started || started ? (seen.startedAtMs ?? atMs) : null),
    nodes,
  } as const;
  const begun =
    seen.started && !started ? [lifecycleEvent("job.started", atMs, { nodes, life: record.life })] : [];
  return changed(record, { atMs }, fields, [...begun, said]);
}

function agrees(record: TaskRecord, atMs: number, seen: JobEnd): boolean {
  const before = record.sighting;
  return before !== null && sameEnd(before.end, seen) && atMs - before.atMs >= AGREEMENT_MS;
}

/** Times, node and billing may still be filled in between two looks; what happened may not change. */
function sameEnd(a: JobEnd, b: JobEnd): boolean {
  return (
    a.kind === b.kind &&
    a.requeues === b.requeues &&
    a.started === b.started &&
    a.exitCode === b.exitCode &&
    a.signal === b.signal
  );
}
