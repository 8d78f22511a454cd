import type { ExitRecord } from "../../adapters/schedulers/shared/exit-record.ts";
import type { Evidence, Told } from "../../adapters/schedulers/slurm/end.ts";

export const START = 1_800_000_000_000;

export function toldOf(state: Told["state"], changes: Partial<Told> = {}): Told {
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

export function recordOf(changes: Partial<ExitRecord> = {}): ExitRecord {
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

export const TERM = { termAtMs: START + 90_000 };
export const NO_FILES: Evidence = { exit: null, began: false, problem: null };
export const BEGAN: Evidence = { exit: null, began: true, problem: null };

export function withRecord(changes: Partial<ExitRecord> = {}): Evidence {
  return { exit: recordOf(changes), began: true, problem: null };
}
