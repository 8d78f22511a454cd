import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ExitRecord } from "../../../../adapters/schedulers/shared/exit-record.ts";
import {
  type Evidence,
  endOf,
  endOfRecordAlone,
  type Told,
} from "../../../../adapters/schedulers/slurm/end.ts";
import { ENDED_WORDS } from "../../../../adapters/schedulers/slurm/states.ts";

const START = 1_800_000_000_000;

function toldOf(state: Told["state"], changes: Partial<Told> = {}): Told {
  return {
    state,
    by: null,
    reason: null,
    exit: { code: 0, signal: 0 },
    startMs: START,
    endMs: START + 100_000,
    nodes: ["c1", "c2"],
    cpus: 8,
    requeues: 2,
    witness: "controller",
    settled: false,
    ...changes,
  };
}

function recordOf(changes: Partial<ExitRecord> = {}): ExitRecord {
  return {
    identity: "slurm:7",
    attempt: 1,
    life: 0,
    requeues: 2,
    started: true,
    exitCode: 0,
    signal: null,
    termAtMs: null,
    timedOut: false,
    startedAtMs: START + 2_000,
    endedAtMs: START + 98_000,
    stdoutBytes: 1234,
    stderrBytes: 56,
    host: "c1",
    signals: [],
    ...changes,
  };
}

const TERM = { termAtMs: START + 90_000 };
const NO_FILES: Evidence = { exit: null, began: false, problem: null };
const BEGAN: Evidence = { exit: null, began: true, problem: null };

function withRecord(changes: Partial<ExitRecord> = {}): Evidence {
  return { exit: recordOf(changes), began: true, problem: null };
}

describe("the end of a job, by Slurm's word and the wrapper's record", () => {
  test("carries all that both know", () => {
    expect(endOf(toldOf("COMPLETED"), withRecord())).toEqual({
      kind: "exited",
      exitCode: 0,
      signal: null,
      reason: null,
      started: true,
      startedAtMs: START + 2_000,
      endedAtMs: START + 98_000,
      termAtMs: null,
      node: "c1",
      requeues: 2,
      coreSeconds: 800,
      bytes: { stdout: 1234, stderr: 56 },
      witness: "exit_record",
      settled: false,
    });
  });

  test("without a record, Slurm alone is the witness", () => {
    expect(endOf(toldOf("COMPLETED", { settled: true, witness: "accounting" }), NO_FILES)).toEqual({
      kind: "exited",
      exitCode: 0,
      signal: null,
      reason: null,
      started: true,
      startedAtMs: START,
      endedAtMs: START + 100_000,
      termAtMs: null,
      node: "c1",
      requeues: 2,
      coreSeconds: 800,
      bytes: null,
      witness: "accounting",
      settled: true,
    });
  });

  test.each([
    ["TIMEOUT", "timeout", /walltime/],
    ["DEADLINE", "timeout", /deadline/],
    ["OUT_OF_MEMORY", "out_of_memory", null],
    ["NODE_FAIL", "node_fail", /node/],
    ["PREEMPTED", "preempted", /priority/],
    ["BOOT_FAIL", "launch_failed", /BOOT_FAIL/],
    ["CANCELLED", "cancelled", null],
  ] as const)(
    "%s is %s, of a job that was sent TERM and of one that left no record",
    (state, kind, reason) => {
      for (const evidence of [BEGAN, withRecord({ ...TERM, exitCode: 143, signal: 15 })]) {
        const end = endOf(toldOf(state), evidence);
        expect(end).toMatchObject({ kind, started: true, witness: "controller" });
        if (reason === null) expect(end.reason).toBeNull();
        else expect(end.reason).toMatch(reason);
      }
    },
  );

  test("what the record knows is joined, whatever the kind", () => {
    const evidence = withRecord({ ...TERM, exitCode: 143, signal: 15 });
    expect(endOf(toldOf("TIMEOUT", { exit: { code: 0, signal: 9 } }), evidence)).toMatchObject({
      kind: "timeout",
      exitCode: null,
      signal: 15,
      termAtMs: TERM.termAtMs,
      bytes: { stdout: 1234, stderr: 56 },
      node: "c1",
    });
  });

  test("a script that traps TERM at its walltime and exits with 0 has still timed out", () => {
    expect(endOf(toldOf("TIMEOUT"), withRecord(TERM))).toMatchObject({ kind: "timeout", exitCode: 0 });
    expect(endOf(toldOf("DEADLINE"), withRecord(TERM)).kind).toBe("timeout");
  });

  test("memory is the end also when the script survived and exited with 0", () => {
    const end = endOf(toldOf("OUT_OF_MEMORY", { exit: { code: 0, signal: 125 } }), withRecord());
    expect(end).toMatchObject({ kind: "out_of_memory", exitCode: 0, signal: null });
    expect(end.reason).toContain("exited 0");
  });

  test.each(["CANCELLED", "TIMEOUT", "DEADLINE", "PREEMPTED"] as const)(
    "%s after the script had ended by itself is not its cause",
    (state) => {
      const end = endOf(toldOf(state), withRecord({ exitCode: 3 }));
      expect(end).toMatchObject({ kind: "exited", exitCode: 3, witness: "exit_record" });
    },
  );

  test("a stop before the script began is the stop's, not the script's", () => {
    const end = endOf(toldOf("CANCELLED"), withRecord({ started: false, exitCode: null }));
    expect(end).toMatchObject({ kind: "cancelled", started: false, startedAtMs: null, coreSeconds: 0 });
  });

  test.each([
    ["1001", "cancelled at the scheduler by user id 1001"],
    ["0", "cancelled at the scheduler by root"],
    ["alice", "cancelled at the scheduler by alice"],
    [null, null],
  ])("cancelled by %s", (by, reason) => {
    expect(endOf(toldOf("CANCELLED", { by }), BEGAN).reason).toBe(reason);
  });

  test("a cancel for a dependency that can never be satisfied says so", () => {
    const told = toldOf("CANCELLED", { reason: "DependencyNeverSatisfied", startMs: null });
    expect(endOf(told, NO_FILES)).toMatchObject({
      kind: "cancelled",
      started: false,
      coreSeconds: 0,
      reason: expect.stringContaining("depends on"),
    });
  });

  test("a job that was cancelled while it waited never started, though Slurm gives it a start", () => {
    const end = endOf(toldOf("CANCELLED", { nodes: [], by: "1001" }), NO_FILES);
    expect(end).toMatchObject({ started: false, startedAtMs: null, node: null, coreSeconds: 0 });
  });

  test("without a record, only a signal that stopped the script is believed of Slurm's status", () => {
    const signalOf = (state: Told["state"], exit: Told["exit"]) => {
      const { exitCode, signal } = endOf(toldOf(state, { exit }), BEGAN);
      return [exitCode, signal];
    };
    expect(signalOf("CANCELLED", { code: 0, signal: 15 })).toEqual([null, 15]);
    expect(signalOf("TIMEOUT", { code: 0, signal: 9 })).toEqual([null, 9]);
    expect(signalOf("TIMEOUT", { code: 0, signal: 0 })).toEqual([null, null]);
    expect(signalOf("CANCELLED", { code: 137, signal: 0 })).toEqual([null, null]);
    expect(signalOf("NODE_FAIL", { code: 0, signal: 1 })).toEqual([null, null]);
    expect(signalOf("DEADLINE", { code: 0, signal: 1 })).toEqual([null, null]);
    expect(signalOf("OUT_OF_MEMORY", { code: 0, signal: 125 })).toEqual([null, null]);
  });
});

describe("the end of a job that failed", () => {
  test("the record's exit code is whole where accounting's is not", () => {
    const told = toldOf("FAILED", { exit: { code: 127, signal: 0, lossy: true }, witness: "accounting" });
    expect(endOf(told, withRecord({ exitCode: 255 }))).toMatchObject({
      kind: "exited",
      exitCode: 255,
      reason: null,
      witness: "exit_record",
    });
    expect(endOf(told, BEGAN)).toMatchObject({
      kind: "exited",
      exitCode: null,
      reason: "exit code 127 or 255: the accounting of Slurm before 25.11 does not tell which",
      witness: "accounting",
    });
    expect(endOf(toldOf("FAILED", { exit: { code: 0, signal: 0, lossy: true } }), BEGAN).reason).toContain(
      "128",
    );
  });

  test("by Slurm's own code and signal where there is no record", () => {
    expect(endOf(toldOf("FAILED", { exit: { code: 3, signal: 0 } }), BEGAN)).toMatchObject({
      kind: "exited",
      exitCode: 3,
    });
    expect(endOf(toldOf("FAILED", { exit: { code: 0, signal: 11 } }), BEGAN)).toMatchObject({
      kind: "signalled",
      exitCode: null,
      signal: 11,
    });
    expect(endOf(toldOf("FAILED", { exit: { code: 0, signal: 9 } }), BEGAN).reason).toContain("memory");
    expect(endOf(toldOf("FAILED", { exit: null }), BEGAN)).toMatchObject({ kind: "exited", exitCode: null });
  });

  test("a work directory or output file that cannot be opened is a launch that failed", () => {
    for (const evidence of [NO_FILES, BEGAN])
      expect(endOf(toldOf("FAILED", { exit: { code: 0, signal: 53 } }), evidence)).toMatchObject({
        kind: "launch_failed",
        signal: null,
        reason: "its work directory or output file could not be opened on the node",
      });
  });

  test.each([
    [64, "called wrongly"],
    [73, "could not set itself up"],
    [126, "may not be run"],
    [127, "is missing"],
    [3, "before its script began (exit code 3)"],
  ])("exit code %s of a script that never began", (code, reason) => {
    const told = toldOf("FAILED", { exit: { code, signal: 0 } });
    const end = endOf(told, NO_FILES);
    expect(end).toMatchObject({ kind: "launch_failed", started: false, exitCode: code, coreSeconds: 0 });
    expect(end.reason).toContain(reason);
    const problem = "a module could not be loaded: openfoam/12";
    expect(endOf(told, { ...NO_FILES, problem })).toMatchObject({ kind: "launch_failed", reason: problem });
    expect(endOf(told, BEGAN)).toMatchObject({ kind: "exited", exitCode: code, started: true });
  });

  test("a request that no node can ever meet fails without having had a node", () => {
    const told = toldOf("FAILED", { exit: { code: 0, signal: 1 }, nodes: [], reason: "BadConstraints" });
    expect(endOf(told, NO_FILES)).toMatchObject({
      kind: "launch_failed",
      signal: null,
      started: false,
      reason: "Slurm could not give it any nodes (BadConstraints)",
    });
  });

  test("whatever Slurm and the wrapper say together, the end is one whole", () => {
    const status = fc.option(fc.record({ code: fc.nat(255), signal: fc.nat(127) }), { nil: null });
    const record = fc.record({
      started: fc.boolean(),
      exitCode: fc.option(fc.nat(255), { nil: null }),
      signal: fc.option(fc.integer({ min: 1, max: 64 }), { nil: null }),
      termAtMs: fc.option(fc.constant(START), { nil: null }),
    });
    const given = fc.record({
      state: fc.constantFrom(...ENDED_WORDS),
      exit: status,
      startMs: fc.option(fc.constant(START), { nil: null }),
      cpus: fc.option(fc.nat(64), { nil: null }),
      nodes: fc.constantFrom([], ["c1"]),
      record: fc.option(record, { nil: null }),
      began: fc.boolean(),
    });
    fc.assert(
      fc.property(given, ({ state, record: facts, began, ...told }) => {
        const exit = facts === null ? null : recordOf(facts);
        const end = endOf(toldOf(state, told), { exit, began: began || exit !== null, problem: null });
        expect(end.exitCode === null || end.signal === null).toBe(true);
        expect(end.started || (end.startedAtMs === null && end.coreSeconds === 0)).toBe(true);
        expect(end.coreSeconds === null || end.coreSeconds >= 0).toBe(true);
        expect(end.requeues).toBe(2);
        if (exit?.started === false) expect(end.started).toBe(false);
      }),
    );
  });
});

describe("the end of a job that Slurm has forgotten", () => {
  const limits = { walltimeSeconds: 120, cpus: 4 };

  test("is the record's", () => {
    expect(endOfRecordAlone(recordOf({ exitCode: 3 }), limits)).toMatchObject({
      kind: "exited",
      exitCode: 3,
      coreSeconds: 384,
      requeues: 2,
      witness: "exit_record",
      settled: true,
    });
    expect(endOfRecordAlone(recordOf({ exitCode: 139, signal: 11 }), limits).kind).toBe("signalled");
  });

  test("TERM near the walltime is taken for the walltime, and any other for a cancel", () => {
    expect(endOfRecordAlone(recordOf(TERM), limits)).toMatchObject({ kind: "timeout", exitCode: 0 });
    expect(endOfRecordAlone(recordOf(TERM), { ...limits, walltimeSeconds: 3600 })).toMatchObject({
      kind: "cancelled",
      reason: "it was sent TERM; who asked is no longer known",
      termAtMs: TERM.termAtMs,
    });
  });

  test("of a walltime of a minute, TERM in the first half is a cancel", () => {
    const short = { walltimeSeconds: 60, cpus: 1 };
    const ran = (seconds: number) => recordOf({ ...TERM, endedAtMs: START + 2_000 + seconds * 1000 });
    expect(endOfRecordAlone(ran(10), short).kind).toBe("cancelled");
    expect(endOfRecordAlone(ran(61), short).kind).toBe("timeout");
  });

  test("TERM before the script began is a cancel", () => {
    const record = recordOf({ ...TERM, started: false, exitCode: null });
    expect(endOfRecordAlone(record, limits)).toMatchObject({
      kind: "cancelled",
      started: false,
      coreSeconds: 0,
    });
  });
});
