import fc from "fast-check";
import { expect, test } from "vitest";
import { LIFECYCLE_EVENTS } from "../../../src/domain/event.ts";
import { apply } from "../../../src/domain/lifecycle.ts";
import { TaskRecord } from "../../../src/domain/task.ts";
import { facts, freshRecord, histories, records } from "../../support/records.ts";

const RUNS = { numRuns: 1_000 };

test("every fact on every record gives a valid record and known, dated events", () => {
  const check = fc.property(records, facts, (record, fact) => {
    const step = apply(record, fact);
    expect(TaskRecord.safeParse(step.record).error).toBeUndefined();
    for (const event of step.events) {
      expect(LIFECYCLE_EVENTS).toContain(event.type);
      expect(event.payload["at"]).toBe(new Date(fact.atMs).toISOString());
    }
  });
  fc.assert(check, RUNS);
});

test("a step neither changes the record it was given nor depends on anything else", () => {
  const check = fc.property(records, facts, (record, fact) => {
    const before = structuredClone(record);
    expect(apply(record, fact)).toEqual(apply(record, fact));
    expect(record).toEqual(before);
  });
  fc.assert(check, RUNS);
});

test("nothing changes an ended task", () => {
  const check = fc.property(records, facts, (record, fact) => {
    const ended = { ...record, phase: "ended" } as const;
    const step = apply(ended, fact);
    expect(step.record).toBe(ended);
    expect(step.events).toEqual([]);
  });
  fc.assert(check, RUNS);
});

test("phaseRev grows by one with each change, and a step without change is the same record without events", () => {
  const check = fc.property(records, facts, (record, fact) => {
    const step = apply(record, fact);
    if (step.record === record) {
      expect(step.events).toEqual([]);
      return;
    }
    expect(step.record.phaseRev).toBe(record.phaseRev + 1);
    const { phaseRev, updatedAtMs, ...rest } = step.record;
    expect({ ...rest, phaseRev: 0, updatedAtMs: 0 }).not.toEqual({ ...record, phaseRev: 0, updatedAtMs: 0 });
  });
  fc.assert(check, RUNS);
});

test("task.ended comes once, last, and exactly when the task ends", () => {
  const check = fc.property(histories, (history) => {
    let record = freshRecord();
    const types: string[] = [];
    for (const fact of history) {
      const step = apply(record, fact);
      record = step.record;
      types.push(...step.events.map((event) => event.type));
    }
    const at = types.indexOf("task.ended");
    expect(at).toBe(record.phase === "ended" ? types.length - 1 : -1);
    expect(types).not.toContain("task.accepted");
    expect(record.outcome === null).toBe(record.phase !== "ended");
    expect(record.endedAtMs === null).toBe(record.phase !== "ended");
  });
  fc.assert(check, RUNS);
});

test("a life begins exactly with job.requeued, never falls, and starts without an earlier life's end", () => {
  const check = fc.property(records, facts, (record, fact) => {
    const step = apply(record, fact);
    const reborn = step.events.some((event) => event.type === "job.requeued");
    if (!reborn) {
      expect(step.record.life).toBe(record.life);
      return;
    }
    expect(step.record.life).toBeGreaterThan(record.life);
    expect(step.record.end?.requeues ?? step.record.life).toBe(step.record.life);
    expect(step.record.phase).not.toBe("ended");
  });
  fc.assert(check, RUNS);
});

test("phases agree with the fields that belong to them, along every history", () => {
  const check = fc.property(histories, (history) => {
    let record = freshRecord();
    for (const fact of history) {
      record = apply(record, fact).record;
      const { phase } = record;
      const early = phase === "accepted" || phase === "submitting";
      if (phase !== "ended") {
        expect(record.job === null).toBe(early);
        expect(record.end === null).toBe(phase !== "collecting");
        expect(record.collectingAtMs === null).toBe(phase !== "collecting");
        if (!early) expect(record.leaseUntilMs).toBeNull();
      }
      if (phase === "running" || phase === "suspended") expect(record.startedAtMs).not.toBeNull();
      if (phase === "collecting" || phase === "ended")
        expect([record.unseen, record.sighting]).toEqual([null, null]);
    }
  });
  fc.assert(check, RUNS);
});

test("each life starts at most once, and its other events come in an order that can be told", () => {
  const check = fc.property(histories, (history) => {
    let record = freshRecord();
    let life = { begun: false, now: "waits" };
    for (const fact of history) {
      const step = apply(record, fact);
      record = step.record;
      for (const { type } of step.events) {
        if (type === "job.requeued") life = { begun: false, now: "waits" };
        if (type === "job.started") expect(life.begun).toBe(false);
        if (type === "job.resumed")
          expect(["suspended", "over", "waits"]).toContain(life.begun ? life.now : "not begun");
        if (type === "job.suspended")
          expect(["runs", "over", "waits"]).toContain(life.begun ? life.now : "not begun");
        if (type === "job.ended") expect(life.now).not.toBe("over");
        life = { begun: life.begun || type === "job.started", now: AFTER[type] ?? life.now };
      }
    }
  });
  fc.assert(check, RUNS);
});

const AFTER: Readonly<Record<string, string>> = {
  "job.queued": "waits",
  "job.held": "waits",
  "job.started": "runs",
  "job.resumed": "runs",
  "job.suspended": "suspended",
  "job.ended": "over",
};

test("the time to live never shrinks while a task lives, and at the end is the end plus what was promised", () => {
  const check = fc.property(histories, (history) => {
    let record = freshRecord();
    for (const fact of history) {
      const { record: next } = apply(record, fact);
      if (next.phase !== "ended") expect(next.expiresAtMs).toBeGreaterThanOrEqual(record.expiresAtMs);
      else expect(next.expiresAtMs).toBe((next.endedAtMs ?? 0) + next.keepMs);
      record = next;
    }
  });
  fc.assert(check, RUNS);
});

test("a task ends only by a refusal, a cancel before the job, an end without a start, a conclusion, a loss, or the operator's word", () => {
  const check = fc.property(histories, (history) => {
    let record = freshRecord();
    let ran = false;
    for (const fact of history) {
      const { record: next, events } = apply(record, fact);
      if (next.phase === "ended" && record.phase !== "ended") {
        if (fact.kind === "concluded") expect(record.phase).toBe("collecting");
        else if (fact.kind === "lost") expect(record.unseen?.gone).not.toBeNull();
        else if (fact.kind === "observed") expect(ran).toBe(false);
        else if (fact.kind === "forgotten") expect(next.outcome?.kind).toBe("lost");
        else {
          expect(fact.kind).toBe("not_submitted");
          expect(record.job).toBeNull();
        }
      }
      ran ||= events.some((event) => event.type === "job.started");
      record = next;
    }
  });
  fc.assert(check, RUNS);
});

test("gone looks are among the looks that saw nothing, counted by such a look alone and forgotten in sight", () => {
  const check = fc.property(histories, (history) => {
    let record = freshRecord();
    for (const fact of history) {
      const before = record.unseen?.gone ?? null;
      const { life } = record;
      record = apply(record, fact).record;
      const now = record.unseen?.gone ?? null;
      if (now === null) continue;
      expect(now.looks).toBeLessThanOrEqual(record.unseen?.looks ?? 0);
      expect(now.sinceMs).toBeGreaterThanOrEqual(record.unseen?.sinceMs ?? 0);
      const seen = fact.kind === "observed" ? fact.observation : null;
      // The end of an older life is all that is known: nobody knows of the present one.
      const isOld = seen?.kind === "ended" && seen.end.requeues < life && seen.end.witness !== "claim";
      const isGone = isOld || (seen?.kind === "unknown" && seen.gone);
      expect(now.looks - (before?.looks ?? 0)).toBe(isGone ? 1 : 0);
      expect(now.sinceMs).toBe(before?.sinceMs ?? fact.atMs);
    }
  });
  fc.assert(check, RUNS);
});

test("a question is asked, answered and delivered at most once, in that order", () => {
  const check = fc.property(histories, (history) => {
    let record = freshRecord();
    const asked: string[] = [];
    const answered: string[] = [];
    for (const fact of history) {
      const step = apply(record, fact);
      for (const event of step.events) {
        if (event.type === "input.requested") asked.push(String(event.payload["key"]));
        if (event.type === "input.answered") answered.push(String(event.payload["key"]));
      }
      const kept = record.inputs.filter((input) => input.answeredAtMs !== null);
      for (const input of kept) {
        const now = step.record.inputs.find((one) => one.key === input.key);
        expect([now?.answer, now?.answeredAtMs]).toEqual([input.answer, input.answeredAtMs]);
        if (input.deliveredAtMs !== null) expect(now?.deliveredAtMs).toBe(input.deliveredAtMs);
      }
      record = step.record;
    }
    expect(new Set(asked).size).toBe(asked.length);
    expect(new Set(answered).size).toBe(answered.length);
    expect(record.inputs.map((input) => input.key)).toEqual(asked);
    expect(asked).toEqual(expect.arrayContaining(answered));
    for (const input of record.inputs) {
      if (input.deliveredAtMs !== null) expect(input.answeredAtMs).not.toBeNull();
    }
  });
  fc.assert(check, RUNS);
});
