import { type EventDraft, lifecycleEvent } from "./event.ts";
import type { Fact, FactOf } from "./fact.ts";
import { applyObservation } from "./observation.ts";
import { outcomeWithoutJob } from "./outcome.ts";
import { changed, end, type Step, unchanged } from "./step.ts";
import type { TaskRecord } from "./task.ts";

/** The rule book: total and pure. A fact that does not fit the phase changes nothing; nothing changes after `ended`. */
export function apply(record: TaskRecord, fact: Fact): Step {
  if (record.phase === "ended") return unchanged(record);
  switch (fact.kind) {
    case "attempt_leased":
      return lease(record, fact);
    case "attempt_uncertain":
      return attemptUncertain(record, fact);
    case "submitted":
      return submitted(record, fact);
    case "not_submitted":
      return notSubmitted(record, fact);
    case "observed":
      return applyObservation(record, fact);
    case "cancel_requested":
      return cancelRequested(record, fact);
    case "input_requested":
      return inputRequested(record, fact);
    case "input_answered":
      return inputAnswered(record, fact);
    case "input_delivered":
      return inputDelivered(record, fact);
    case "concluded":
      return record.phase === "collecting"
        ? end(record, fact.atMs, fact.outcome, { result: fact.result, events: artifactEvents(fact) })
        : unchanged(record);
    case "other_job_found":
      return otherJobFound(record, fact);
    case "lost":
      return lost(record, fact);
    case "forgotten":
      return forgotten(record, fact);
    case "ttl_extended":
      return extendTtl(record, fact);
    default:
      return fact satisfies never;
  }
}

function lease(record: TaskRecord, fact: FactOf<"attempt_leased">): Step {
  if (record.phase !== "accepted" && record.phase !== "submitting") return unchanged(record);
  if (fact.attempt < record.attempt) return unchanged(record);
  const fields = { phase: "submitting", attempt: fact.attempt, leaseUntilMs: fact.leaseUntilMs } as const;
  return changed(record, fact, fields, []);
}

function attemptUncertain(record: TaskRecord, fact: FactOf<"attempt_uncertain">): Step {
  if (record.phase !== "submitting") return unchanged(record);
  const fields = { reason: fact.why, leaseUntilMs: fact.leaseUntilMs };
  const said = { phase: record.phase, message: fact.why };
  return changed(record, fact, fields, [lifecycleEvent("task.status", fact.atMs, said)]);
}

function submitted(record: TaskRecord, fact: FactOf<"submitted">): Step {
  if (record.phase !== "submitting" && record.phase !== "accepted") return unchanged(record);
  const fields = {
    phase: "queued",
    job: fact.job,
    attempt: Math.max(record.attempt, fact.job.attempt),
    leaseUntilMs: null,
    reason: null,
    queuedAtMs: fact.atMs,
  } as const;
  return changed(record, fact, fields, [
    lifecycleEvent("job.submitted", fact.atMs, {
      target: record.target,
      jobId: fact.job.id,
      attempt: fact.job.attempt,
    }),
  ]);
}

function notSubmitted(record: TaskRecord, fact: FactOf<"not_submitted">): Step {
  if (record.phase !== "accepted" && record.phase !== "submitting") return unchanged(record);
  if (fact.cause === "cancelled" && record.cancel === null) return unchanged(record);
  return end(record, fact.atMs, outcomeWithoutJob(fact.cause, fact.reason), { events: [] });
}

function cancelRequested(record: TaskRecord, fact: FactOf<"cancel_requested">): Step {
  if (record.cancel !== null) return unchanged(record);
  return changed(record, fact, { cancel: { atMs: fact.atMs, by: fact.by } }, [
    lifecycleEvent("cancel.requested", fact.atMs, { by: fact.by }),
  ]);
}

function inputRequested(record: TaskRecord, fact: FactOf<"input_requested">): Step {
  if (record.inputs.some((input) => input.key === fact.key)) return unchanged(record);
  const asked = {
    key: fact.key,
    request: fact.request,
    askedAtMs: fact.atMs,
    answeredAtMs: null,
    deliveredAtMs: null,
  };
  return changed(record, fact, { inputs: [...record.inputs, asked] }, [
    lifecycleEvent("input.requested", fact.atMs, { key: fact.key, request: fact.request }),
  ]);
}

function inputAnswered(record: TaskRecord, fact: FactOf<"input_answered">): Step {
  const open = record.inputs.some((input) => input.key === fact.key && input.answeredAtMs === null);
  if (!open) return unchanged(record);
  const inputs = record.inputs.map((input) =>
    input.key === fact.key ? { ...input, answer: fact.answer, answeredAtMs: fact.atMs } : input,
  );
  return changed(record, fact, { inputs }, [lifecycleEvent("input.answered", fact.atMs, { key: fact.key })]);
}

function inputDelivered(record: TaskRecord, fact: FactOf<"input_delivered">): Step {
  const waiting = record.inputs.some(
    (input) => input.key === fact.key && input.answeredAtMs !== null && input.deliveredAtMs === null,
  );
  if (!waiting) return unchanged(record);
  const inputs = record.inputs.map((input) =>
    input.key === fact.key ? { ...input, deliveredAtMs: fact.atMs } : input,
  );
  return changed(record, fact, { inputs }, []);
}

/**
 * The looks that found the job gone begin anew. The other job is not taken over: lives, ends and logs are told of the
 * recorded one. Whoever looks into it cancels that job or forgets the task.
 */
function otherJobFound(record: TaskRecord, fact: FactOf<"other_job_found">): Step {
  const { unseen } = record;
  if (unseen === null || unseen.gone === null) return unchanged(record);
  const why = `it is gone, but its mark has another job, ${fact.job.id}`;
  return changed(record, fact, { unseen: { ...unseen, why, gone: null } }, []);
}

/** Only a job that is gone can be lost: one look that saw it, or its end, takes that back. */
function lost(record: TaskRecord, fact: FactOf<"lost">): Step {
  const gone = record.unseen?.gone ?? null;
  if (record.job === null || gone === null || record.phase === "collecting") return unchanged(record);
  return end(record, fact.atMs, outcomeWithoutJob("lost", fact.why), { events: [] });
}

/** The operator's word ends any task: a target may never come back, and nobody else may guess so. */
function forgotten(record: TaskRecord, fact: FactOf<"forgotten">): Step {
  const reason = `forgotten by the operator (${fact.by}): ${fact.why}`;
  return end(record, fact.atMs, outcomeWithoutJob("lost", reason), { events: [] });
}

function extendTtl(record: TaskRecord, fact: FactOf<"ttl_extended">): Step {
  if (fact.expiresAtMs <= record.expiresAtMs) return unchanged(record);
  return changed(record, fact, { expiresAtMs: fact.expiresAtMs }, []);
}

function artifactEvents(fact: FactOf<"concluded">): EventDraft[] {
  return fact.result.artifacts.map((artifact) =>
    lifecycleEvent("artifact.created", fact.atMs, { ...artifact }),
  );
}
