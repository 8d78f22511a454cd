import fc from "fast-check";
import type { JobEnd, Observation } from "../../src/domain/adapter.ts";
import type { Fact } from "../../src/domain/fact.ts";
import { apply } from "../../src/domain/lifecycle.ts";
import { outcomeWithoutJob } from "../../src/domain/outcome.ts";
import { Phase, type TaskRecord, type TaskResult } from "../../src/domain/task.ts";
import { newRecord } from "../../src/tasks/record.ts";

export const T0 = 1_800_000_000_000;

type Told<F> = F extends { readonly atMs: number } ? Omit<F, "atMs"> : never;
/** A fact without its time. */
export type Telling = Told<Fact>;

export function freshRecord(fields: Partial<TaskRecord> = {}): TaskRecord {
  const identity = {
    id: "t_fresh",
    owner: "owner",
    tool: "tool",
    target: "here",
    mark: "tr-test-mark",
    createdAtMs: T0,
    keepMs: 60_000,
    walltimeSeconds: 60,
    expiresAtMs: T0 + 120_000,
  };
  return { ...newRecord(identity), ...fields };
}

export const JOB = { id: "7", mark: "tr-test-mark", attempt: 1 } as const;

export function jobEnd(fields: Partial<JobEnd> = {}): JobEnd {
  return {
    kind: "exited",
    exitCode: 0,
    signal: null,
    reason: null,
    started: true,
    startedAtMs: null,
    endedAtMs: null,
    termAtMs: null,
    node: null,
    requeues: 0,
    coreSeconds: null,
    bytes: null,
    witness: "accounting",
    settled: true,
    ...fields,
  };
}

export const RESULT: TaskResult = {
  metrics: {},
  artifacts: [],
  skipped: [],
  result: null,
  tail: [],
  summary: null,
};

export const observed = (observation: Observation): Telling => ({ kind: "observed", observation });
export const sawEnd = (fields: Partial<JobEnd> = {}): Telling =>
  observed({ kind: "ended", end: jobEnd(fields) });
export const sawRunning = (requeues = 0): Telling =>
  observed({ kind: "running", nodes: ["n1"], sinceMs: null, requeues, reason: null });
export const sawQueued: Telling = observed({ kind: "queued", requeues: 0, reason: null });
export const sawRequeued: Telling = observed({ kind: "queued", requeues: 1, reason: null });
export const sawSuspended: Telling = observed({ kind: "suspended", reason: null });
/** A look that could not tell, and one after which nobody is left to be asked. */
export const sawNothing: Telling = observed({ kind: "unknown", why: "no answer", gone: false });
export const sawGone: Telling = observed({ kind: "unknown", why: "nobody has it", gone: true });
export const submitted: Telling = { kind: "submitted", job: JOB };
export const cancel: Telling = { kind: "cancel_requested", by: "caller" };
export const concluded: Telling = {
  kind: "concluded",
  outcome: outcomeWithoutJob("cancelled", "for the test"),
  result: RESULT,
};

/** Tells a record facts one second apart, and gives back where it got to with the types of all events. */
export function tell(start: TaskRecord, ...facts: Telling[]): { record: TaskRecord; events: string[] } {
  let record = start;
  const events: string[] = [];
  for (const fact of facts) {
    const step = apply(record, { ...fact, atMs: record.updatedAtMs + 1_000 } as Fact);
    events.push(...step.events.map((event) => event.type));
    record = step.record;
  }
  return { record, events };
}

const text = fc.string({ maxLength: 12 });
const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(of, { nil: null });
const count = fc.integer({ min: 0, max: 3 });
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)));
const jsonObject = fc.dictionary(text, json, { maxKeys: 3 });
export const inputKeys = fc.constantFrom("a", "b:c", "d\ne", "");

export const jobRefs = fc.record({
  id: fc.string({ minLength: 1, maxLength: 5 }),
  mark: text,
  attempt: fc.integer({ min: 1, max: 3 }),
});

export const jobEnds: fc.Arbitrary<JobEnd> = fc.record({
  kind: fc.constantFrom(
    "exited",
    "signalled",
    "timeout",
    "out_of_memory",
    "cancelled",
    "node_fail",
    "preempted",
    "launch_failed",
    "vanished",
  ),
  exitCode: maybe(fc.constantFrom(0, 1, 143)),
  signal: maybe(fc.integer({ min: 1, max: 64 })),
  reason: maybe(text),
  started: fc.boolean(),
  startedAtMs: maybe(time),
  endedAtMs: maybe(time),
  termAtMs: maybe(time),
  node: maybe(text),
  requeues: count,
  coreSeconds: maybe(fc.nat()),
  bytes: maybe(fc.record({ stdout: fc.nat(), stderr: fc.nat() })),
  witness: fc.constantFrom("accounting", "controller", "exit_record", "pod", "process", "claim"),
  settled: fc.boolean(),
});

const observations: fc.Arbitrary<Observation> = fc.oneof(
  fc.record({ kind: fc.constantFrom("queued", "held"), requeues: count, reason: maybe(text) }),
  fc.record({ kind: fc.constant("suspended"), reason: maybe(text) }),
  fc.record({
    kind: fc.constant("running"),
    nodes: fc.array(text, { maxLength: 2 }),
    sinceMs: maybe(time),
    requeues: count,
    reason: maybe(text),
  }),
  fc.record({ kind: fc.constant("ended"), end: jobEnds }),
  fc.record({ kind: fc.constant("unknown"), why: text, gone: fc.boolean() }),
);

const outcomes = fc.constantFrom(outcomeWithoutJob("lost", "x"), outcomeWithoutJob("cancelled", "y"));
const artifact = { name: "out", mediaType: "text/plain", bytes: 1, sha256: null };
const results = fc.constantFrom(RESULT, { ...RESULT, artifacts: [artifact, artifact] });

const tellings: fc.Arbitrary<Telling> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("attempt_leased"), attempt: count, leaseUntilMs: time }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("attempt_uncertain"), why: text, leaseUntilMs: maybe(time) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("submitted"), job: jobRefs }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("not_submitted"),
      cause: fc.constantFrom("rejected", "cancelled"),
      reason: text,
    }),
  },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant("observed"), observation: observations }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel_requested"), by: text }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("input_requested"), key: inputKeys, request: jsonObject }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("input_answered"), key: inputKeys, answer: json }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("input_delivered"), key: inputKeys }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("concluded"), outcome: outcomes, result: results }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lost"), why: text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("other_job_found"), job: jobRefs }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forgotten"), by: text, why: text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("ttl_extended"), expiresAtMs: time }) },
);

/** Any fact, at any time. */
export const facts: fc.Arbitrary<Fact> = fc
  .tuple(tellings, time)
  .map(([fact, atMs]) => ({ ...fact, atMs }) as Fact);

/** Facts in the order of time, from shortly after `T0`. */
export const histories: fc.Arbitrary<Fact[]> = fc
  .array(fc.tuple(tellings, fc.integer({ min: 0, max: 15_000 })), { maxLength: 40, size: "max" })
  .map((steps) => {
    let atMs = T0;
    return steps.map(([fact, waitMs]) => {
      atMs += waitMs;
      return { ...fact, atMs } as Fact;
    });
  });

const taskInputs = fc.record(
  {
    key: inputKeys,
    request: jsonObject,
    askedAtMs: time,
    answer: json,
    answeredAtMs: maybe(time),
    deliveredAtMs: maybe(time),
  },
  { requiredKeys: ["key", "request", "askedAtMs", "answeredAtMs", "deliveredAtMs"] },
);

/** Records of every shape the schema allows, also such as no history leads to. */
const anyRecords: fc.Arbitrary<TaskRecord> = fc
  .record({
    phase: fc.constantFrom(...Phase.options),
    phaseRev: fc.nat(),
    createdAtMs: time,
    updatedAtMs: time,
    expiresAtMs: time,
    keepMs: fc.nat(),
    attempt: count,
    leaseUntilMs: maybe(time),
    job: maybe(jobRefs),
    life: count,
    reason: maybe(text),
    nodes: fc.array(text, { maxLength: 2 }),
    queuedAtMs: maybe(time),
    startedAtMs: maybe(time),
    endedAtMs: maybe(time),
    cancel: maybe(fc.record({ atMs: time, by: text })),
    inputs: fc.uniqueArray(taskInputs, { selector: (input) => input.key, maxLength: 3 }),
    end: maybe(jobEnds),
    collectingAtMs: maybe(time),
    sighting: maybe(fc.record({ end: jobEnds, atMs: time })),
    unseen: maybe(
      fc.record({
        sinceMs: time,
        looks: count,
        why: text,
        gone: maybe(fc.record({ sinceMs: time, looks: count })),
      }),
    ),
    outcome: maybe(outcomes),
    result: maybe(results),
  })
  .map((fields) => freshRecord(fields));

const reachedRecords = histories.map((history) =>
  history.reduce((record, fact) => apply(record, fact).record, freshRecord()),
);

/** Half of them reached by a history, half of any shape. */
export const records: fc.Arbitrary<TaskRecord> = fc.oneof(reachedRecords, anyRecords);
