import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endOf, endOfRecordAlone } from "../../../../adapters/schedulers/slurm/end.ts";
import { ENDED_WORDS } from "../../../../adapters/schedulers/slurm/states.ts";
import { BEGAN, NO_FILES, recordOf, START, TERM, toldOf, withRecord } from "../../../support/slurm-ends.ts";

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
