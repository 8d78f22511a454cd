import { expect, test } from "vitest";
import { AGREEMENT_MS } from "../../../src/domain/ending.ts";
import { apply } from "../../../src/domain/lifecycle.ts";
import { openInputs, TaskRecord } from "../../../src/domain/task.ts";
import {
  cancel,
  concluded,
  freshRecord,
  JOB,
  jobEnd,
  observed,
  sawEnd,
  sawGone,
  sawNothing,
  sawQueued,
  sawRequeued,
  sawRunning,
  sawSuspended,
  submitted,
  type Telling,
  tell,
} from "../../support/records.ts";

const leased: Telling = { kind: "attempt_leased", attempt: 1, leaseUntilMs: 9 };
const queued = tell(freshRecord(), leased, submitted).record;
const running = tell(queued, sawRunning()).record;
const collecting = tell(running, sawEnd()).record;

test("a plain job goes from accepted to ended", () => {
  const { record, events } = tell(
    freshRecord(),
    leased,
    submitted,
    sawQueued,
    observed({ kind: "held", requeues: 0, reason: "JobHeldUser" }),
    sawQueued,
    sawRunning(),
    sawSuspended,
    sawRunning(),
    sawEnd(),
    concluded,
  );
  expect(record).toMatchObject({ phase: "ended", attempt: 1, job: JOB, life: 0, end: jobEnd() });
  expect(events).toEqual([
    "job.submitted",
    "job.held",
    "job.queued",
    "job.started",
    "job.suspended",
    "job.resumed",
    "job.ended",
    "task.ended",
  ]);
});

test("a cancel of an accepted task ends it when submit finds no attempt outstanding", () => {
  const reason = "cancelled before it was submitted";
  const asked = tell(freshRecord(), cancel);
  expect(asked.record).toMatchObject({ phase: "accepted", cancel: { by: "caller" } });
  const { record, events } = tell(asked.record, { kind: "not_submitted", cause: "cancelled", reason });
  expect(record).toMatchObject({ phase: "ended", outcome: { kind: "cancelled", reason } });
  expect(events).toEqual(["task.ended"]);
});

test("nobody's cancel ends no task", () => {
  const fact: Telling = { kind: "not_submitted", cause: "cancelled", reason: "no" };
  expect(tell(freshRecord(), fact).record.phase).toBe("accepted");
});

test("a job that was submitted while its cancel came in is kept, and still to be cancelled", () => {
  const { record } = tell(freshRecord(), leased, cancel, submitted);
  expect(record).toMatchObject({ phase: "queued", job: JOB, cancel: { by: "caller" } });
});

test("a cancel is asked once, however often it is repeated", () => {
  expect(tell(running, cancel, cancel, cancel).events).toEqual(["cancel.requested"]);
});

test("a job that is known cannot be refused any more, nor replaced", () => {
  expect(tell(queued, { kind: "not_submitted", cause: "rejected", reason: "late" }).record).toBe(queued);
  expect(tell(queued, { kind: "submitted", job: { ...JOB, id: "8" } }).record).toBe(queued);
  expect(tell(queued, leased).record).toBe(queued);
});

test("an older attempt cannot take the lease back", () => {
  const second = tell(freshRecord(), leased, { ...leased, attempt: 2 } as Telling).record;
  expect(second).toMatchObject({ phase: "submitting", attempt: 2 });
  expect(tell(second, leased).record).toBe(second);
});

test("an observation before there is a job changes nothing", () => {
  for (const start of [freshRecord(), tell(freshRecord(), leased).record]) {
    for (const fact of [sawQueued, sawRunning(), sawSuspended, sawNothing, sawEnd()]) {
      expect(tell(start, fact).record).toBe(start);
    }
  }
});

test.each([
  ["queued", queued],
  ["running", running],
  ["suspended", tell(running, sawSuspended).record],
])("looks that see nothing are counted while a job is %s, and end nothing", (phase, start) => {
  const { record, events } = tell(start, ...Array.from({ length: 50 }, () => sawNothing));
  expect(record).toMatchObject({ phase, unseen: { looks: 50, why: "no answer", gone: null } });
  expect(events).toEqual(["task.status"]);
});

test.each([
  ["queued", queued, sawQueued],
  ["running", running, sawRunning()],
  ["suspended", tell(running, sawSuspended).record, sawSuspended],
])("one look at a job that is still %s takes back all looks that saw nothing", (phase, start, again) => {
  const { record, events } = tell(start, sawNothing, sawNothing, again);
  expect(record).toMatchObject({ phase, unseen: null });
  expect(events).toEqual(["task.status"]);
});

test("only looks after which nobody is left to be asked count towards a loss; others neither count nor reset", () => {
  const first = tell(running, sawNothing, sawGone);
  const { record } = tell(first.record, sawNothing, sawGone, sawNothing);
  expect(record.unseen).toEqual({
    sinceMs: running.updatedAtMs + 1_000,
    looks: 5,
    why: "no answer",
    gone: { sinceMs: running.updatedAtMs + 2_000, looks: 2 },
  });
  const end = tell(record, sawEnd({ requeues: 0, settled: false }));
  expect(end.record.unseen).toBeNull();
});

test("a life that nobody knows beyond the end of the one before is lost in time, and never ended by that end", () => {
  const lagging = tell(tell(running, sawRequeued, sawGone).record, sawEnd({ requeues: 0 })).record;
  expect(lagging).toMatchObject({ phase: "queued", end: null, unseen: { looks: 2, gone: { looks: 2 } } });
  const { record } = tell(lagging, { kind: "lost", why: "nobody knows it" });
  expect(record).toMatchObject({ phase: "ended", outcome: { kind: "lost" } });
});

test("a record from before it told gone looks apart begins to count them anew", () => {
  const { gone: _, ...unseen } = { sinceMs: 1, looks: 30, why: "x", gone: null };
  expect(TaskRecord.parse({ ...running, unseen }).unseen).toEqual({ ...unseen, gone: null });
});

test("another job found under the mark takes back the looks that count, and nothing else", () => {
  const other: Telling = { kind: "other_job_found", job: { ...JOB, id: "8", attempt: 2 } };
  const gone = tell(running, sawNothing, sawGone, sawGone).record;
  const { record, events } = tell(gone, other);
  expect(record).toMatchObject({ job: JOB, phase: "running", unseen: { looks: 3, gone: null } });
  expect(record.unseen?.why).toContain("8");
  expect(events).toEqual([]);
  for (const start of [freshRecord(), running, collecting, tell(running, sawNothing).record])
    expect(tell(start, other).record).toBe(start);
});

test("a job can be lost only while it is gone", () => {
  const lost: Telling = { kind: "lost", why: "nobody knows it" };
  const unsure = tell(running, sawNothing, sawNothing).record;
  for (const start of [freshRecord(), queued, running, collecting, unsure])
    expect(tell(start, lost).record).toBe(start);
  expect(tell(running, sawGone, sawRunning(), lost).record.phase).toBe("running");
  expect(tell(running, sawGone, lost).record).toMatchObject({ phase: "ended", outcome: { kind: "lost" } });
});

test("the operator's word ends a task of any phase as lost, in sight or not, and says whose word it was", () => {
  const forgotten: Telling = { kind: "forgotten", by: "ada", why: "the cluster was sold" };
  for (const start of [freshRecord(), tell(freshRecord(), leased).record, queued, running, collecting]) {
    const { record, events } = tell(start, forgotten);
    expect(record).toMatchObject({
      phase: "ended",
      outcome: { kind: "lost", ok: false, reason: "forgotten by the operator (ada): the cluster was sold" },
    });
    expect(events).toEqual(["task.ended"]);
    expect(tell(record, forgotten).record).toBe(record);
  }
});

test("a job that was seen to run is collected even if its witness says that it never started", () => {
  for (const start of [running, tell(running, sawSuspended).record]) {
    const { record } = tell(start, sawEnd({ started: false }));
    expect(record).toMatchObject({ phase: "collecting", end: { started: true } });
  }
});

test("a job that ran, was requeued, and ended before it ran again is collected", () => {
  const { record, events } = tell(
    running,
    sawRequeued,
    sawEnd({ started: false, requeues: 1, kind: "cancelled" }),
  );
  expect(record).toMatchObject({ phase: "collecting", life: 1, startedAtMs: null, end: { started: false } });
  expect(events).toEqual(["job.requeued", "job.queued", "job.ended"]);
});

test("a job that ended without a start is ended by the look that saw it", () => {
  const { record, events } = tell(queued, sawEnd({ started: false, kind: "launch_failed", exitCode: null }));
  expect(record).toMatchObject({ phase: "ended", outcome: { kind: "launch_failed", ok: false } });
  expect(events).toEqual(["job.ended", "task.ended"]);
});

test("a job that ran and ended between two looks is told as started and ended", () => {
  const { record, events } = tell(queued, sawEnd({ node: "n3", startedAtMs: 5 }));
  expect(record).toMatchObject({ phase: "collecting", nodes: ["n3"], startedAtMs: 5 });
  expect(events).toEqual(["job.started", "job.ended"]);
});

test("a job first seen suspended is told as started and suspended", () => {
  const { record, events } = tell(queued, sawSuspended);
  expect(record.startedAtMs).not.toBeNull();
  expect(events).toEqual(["job.started", "job.suspended"]);
});

test("a start time once known does not move when only the reason or the nodes change", () => {
  const other: Telling = observed({
    kind: "running",
    nodes: ["n2"],
    sinceMs: null,
    requeues: 0,
    reason: "x",
  });
  const { record, events } = tell(running, sawRunning(), other);
  expect(record).toMatchObject({ nodes: ["n2"], reason: "x", startedAtMs: running.startedAtMs });
  expect(events).toEqual([]);
});

test("an end of an older life ends nothing and counts as a look that saw nothing", () => {
  const reborn = tell(running, sawRequeued, sawRunning(1)).record;
  const { record, events } = tell(reborn, sawEnd({ requeues: 0 }), sawEnd({ requeues: 0 }));
  expect(record).toMatchObject({ phase: "running", life: 1, end: null, unseen: { looks: 2 } });
  expect(events).toEqual(["task.status"]);
});

test("a claim that was taken away from a job ends it in whatever life it waits", () => {
  const withdrawn = sawEnd({ kind: "cancelled", witness: "claim", started: false, requeues: 0 });
  expect(tell(queued, sawRequeued, withdrawn).record).toMatchObject({
    phase: "collecting",
    life: 1,
    end: { kind: "cancelled", requeues: 1, started: false },
  });
});

test("a running job whose count of requeues is behind keeps its life", () => {
  const reborn = tell(running, sawRequeued).record;
  expect(tell(reborn, sawRunning(0)).record).toMatchObject({ phase: "running", life: 1 });
});

test("a requeue nobody saw begins a new life in the look that tells of it", () => {
  expect(tell(running, sawRunning(2))).toMatchObject({
    record: { phase: "running", life: 2 },
    events: ["job.requeued", "job.started"],
  });
  expect(tell(running, sawEnd({ requeues: 1 }))).toMatchObject({
    record: { phase: "collecting", life: 1, end: { requeues: 1 } },
    events: ["job.requeued", "job.started", "job.ended"],
  });
});

test.each([
  ["queued", sawRequeued, ["job.requeued", "job.queued"]],
  ["running", sawRunning(1), ["job.requeued", "job.started"]],
])("a job requeued after it had ended is %s in a new life, without that end", (phase, fact, told) => {
  const { record, events } = tell(collecting, fact);
  expect(record).toMatchObject({ phase, life: 1, end: null, collectingAtMs: null });
  expect(events).toEqual(told);
});

test("a job that waits again with the same count of requeues goes on in its life, which had begun", () => {
  const { record, events } = tell(running, sawQueued);
  expect(record).toMatchObject({ phase: "queued", life: 0, startedAtMs: running.startedAtMs });
  expect(events).toEqual(["job.queued"]);
  expect(tell(record, sawRunning(), sawEnd())).toMatchObject({
    record: { phase: "collecting", life: 0, end: { requeues: 0 } },
    events: ["job.resumed", "job.ended"],
  });
  expect(tell(collecting, sawQueued).record).toMatchObject({
    phase: "queued",
    end: null,
    collectingAtMs: null,
  });
});

test("several requeues between two looks, and one seen twice on its way, are counted as the scheduler counts them", () => {
  const twice = observed({ kind: "held", requeues: 2, reason: null });
  expect(tell(running, sawRunning(1), sawRequeued).record).toMatchObject({ phase: "queued", life: 1 });
  expect(tell(running, sawRequeued, twice)).toMatchObject({
    record: { phase: "held", life: 2 },
    events: ["job.requeued", "job.queued", "job.requeued", "job.held"],
  });
});

test("an end in a newer life replaces the one that was being collected", () => {
  const { record, events } = tell(collecting, sawEnd({ requeues: 1, exitCode: 3 }));
  expect(record).toMatchObject({ phase: "collecting", life: 1, end: { exitCode: 3 } });
  expect(events).toEqual(["job.requeued", "job.started", "job.ended"]);
});

test("a job that runs on with the same count of requeues goes on in its life", () => {
  const { record, events } = tell(collecting, sawRunning(0), sawEnd({ requeues: 0 }));
  expect(record).toMatchObject({ phase: "collecting", life: 0 });
  expect(events).toEqual(["job.resumed", "job.ended"]);
  expect(tell(collecting, sawSuspended).record).toMatchObject({ phase: "suspended", end: null });
});

test("only a job that is being collected can be concluded", () => {
  for (const start of [freshRecord(), queued, running]) expect(tell(start, concluded).record).toBe(start);
  expect(tell(collecting, concluded)).toMatchObject({ record: { phase: "ended" }, events: ["task.ended"] });
});

const unsettled = sawEnd({ settled: false });

/** The unsettled end seen at 0 s, then other looks at the times given. */
function looks(...later: [atMs: number, fact: Telling][]): string {
  let record = running;
  for (const [atMs, fact] of [[0, unsettled] as const, ...later]) {
    record = apply(record, { ...fact, atMs: running.updatedAtMs + atMs } as Parameters<
      typeof apply
    >[1]).record;
  }
  return record.phase;
}

test("an unsettled end counts once two looks far enough apart agree", () => {
  expect(looks()).toBe("running");
  expect(looks([AGREEMENT_MS - 1, unsettled])).toBe("running");
  expect(looks([AGREEMENT_MS, unsettled])).toBe("collecting");
  expect(looks([5_000, unsettled], [AGREEMENT_MS, unsettled])).toBe("collecting");
  expect(looks([5_000, sawNothing], [AGREEMENT_MS, unsettled])).toBe("collecting");
  expect(looks([1, sawEnd()])).toBe("collecting");
});

test.each([
  ["a revival", sawRunning()],
  ["another kind of end", sawEnd({ settled: false, kind: "node_fail" })],
  ["another exit code", sawEnd({ settled: false, exitCode: 1 })],
])("%s between two looks makes the agreement begin again", (_, between) => {
  expect(looks([5_000, between], [AGREEMENT_MS, unsettled])).toBe("running");
  expect(looks([5_000, between], [6_000, unsettled], [6_000 + AGREEMENT_MS, unsettled])).toBe("collecting");
});

test("an unsettled end of a newer life needs two looks of its own", () => {
  const newer = sawEnd({ settled: false, requeues: 1 });
  expect(looks([AGREEMENT_MS, newer])).toBe("queued");
  expect(looks([AGREEMENT_MS, newer], [2 * AGREEMENT_MS, newer])).toBe("collecting");
});

test("an end in sight is in sight: it takes back the looks that saw nothing", () => {
  const { record } = tell(running, unsettled, sawNothing, unsettled);
  expect(record).toMatchObject({ phase: "running", unseen: null, sighting: { end: { kind: "exited" } } });
});

test("a question is open from asking to answer, not while the job is over, and again after a requeue", () => {
  const keys = (record: typeof running) => openInputs(record).map((input) => input.key);
  const asked = tell(running, { kind: "input_requested", key: "k", request: { q: 1 } }).record;
  expect(keys(asked)).toEqual(["k"]);
  const over = tell(asked, sawEnd()).record;
  expect(keys(over)).toEqual([]);
  const again = tell(over, sawRequeued).record;
  expect(keys(again)).toEqual(["k"]);
  expect(keys(tell(again, { kind: "input_answered", key: "k", answer: 5 }).record)).toEqual([]);
});

test("an answer counts once, is delivered once, and a key is never asked again", () => {
  const { record, events } = tell(
    running,
    { kind: "input_answered", key: "k", answer: "too early" },
    { kind: "input_requested", key: "k", request: {} },
    { kind: "input_delivered", key: "k" },
    { kind: "input_answered", key: "k", answer: "first" },
    { kind: "input_answered", key: "k", answer: "second" },
    { kind: "input_delivered", key: "k" },
    { kind: "input_delivered", key: "k" },
    { kind: "input_requested", key: "k", request: { again: true } },
  );
  expect(events).toEqual(["input.requested", "input.answered"]);
  expect(record.inputs).toEqual([
    expect.objectContaining({ key: "k", request: {}, answer: "first", deliveredAtMs: expect.any(Number) }),
  ]);
  expect(record.phaseRev).toBe(running.phaseRev + 3);
});
