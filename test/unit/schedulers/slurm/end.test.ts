import { describe, expect, test } from "vitest";
import { endOf, type Told } from "../../../../adapters/schedulers/slurm/end.ts";
import { BEGAN, NO_FILES, START, TERM, toldOf, withRecord } from "../../../support/slurm-ends.ts";

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
