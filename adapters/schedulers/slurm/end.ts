import type { JobEnd } from "../../../src/domain/adapter.ts";
import { type ExitRecord, endOfExit } from "../shared/exit-record.ts";
import type { ExitStatus } from "./fields.ts";
import type { EndedWord } from "./states.ts";

/** The end of one life as Slurm tells it. `by`: who cancelled it. `reason`: Slurm's own word, null where not told. */
export type Told = {
  readonly state: EndedWord;
  readonly by: string | null;
  readonly reason: string | null;
  readonly exit: ExitStatus | null;
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly nodes: readonly string[];
  readonly cpus: number | null;
  readonly requeues: number;
  readonly witness: "controller" | "accounting";
  readonly settled: boolean;
};

/** What the job directory holds of the very life that ended. */
export type Evidence = {
  readonly exit: ExitRecord | null;
  /** A life record exists. */
  readonly began: boolean;
  /** Why the wrapper could not begin. */
  readonly problem: string | null;
  /** The last lines of Slurm's output file, where what the preamble and Slurm itself said is; null when not looked at. */
  readonly said?: string | null;
};

type Verdict = Pick<JobEnd, "kind" | "exitCode" | "signal" | "reason"> & { readonly isByRecord: boolean };

/**
 * Joins Slurm's word and the wrapper's record. Slurm says what stopped the job; the record says how the script came out,
 * and alone keeps exit codes whole. An end that the script reached by itself, before Slurm cancelled or timed it out,
 * stays its own.
 */
export function endOf(told: Told, evidence: Evidence): JobEnd {
  const { exit } = evidence;
  const verdict = verdictOf(told, evidence);
  const started = exit?.started ?? (evidence.began || (told.state === "COMPLETED" && told.startMs !== null));
  const { isByRecord, ...how } = verdict;
  return {
    ...how,
    started,
    startedAtMs: started ? (exit?.startedAtMs ?? told.startMs) : null,
    endedAtMs: exit?.endedAtMs ?? told.endMs,
    termAtMs: exit?.termAtMs ?? null,
    node: told.nodes[0] ?? exit?.host ?? null,
    requeues: told.requeues,
    coreSeconds: started ? coreSeconds(told, exit) : 0,
    bytes: exit === null ? null : { stdout: exit.stdoutBytes, stderr: exit.stderrBytes },
    witness: isByRecord ? "exit_record" : told.witness,
    settled: told.settled,
  };
}

/** By the times of the allocation, which is what sites bill; by the wrapper's where Slurm tells none. */
function coreSeconds({ startMs, endMs, cpus }: Told, exit: ExitRecord | null): number | null {
  const from = startMs ?? exit?.startedAtMs ?? null;
  const to = endMs ?? exit?.endedAtMs ?? null;
  if (from === null || to === null || cpus === null) return null;
  return (Math.max(0, to - from) / 1000) * cpus;
}

function verdictOf(told: Told, evidence: Evidence): Verdict {
  const { exit } = evidence;
  switch (told.state) {
    case "COMPLETED":
    case "FAILED":
      return exit !== null && (exit.started || told.state === "COMPLETED")
        ? byRecord(exit)
        : byStatus(told, evidence);
    case "OUT_OF_MEMORY":
      return stopped("out_of_memory", exit, outOfMemoryReason(exit));
    case "NODE_FAIL":
      return stopped("node_fail", exit, "Slurm lost its node");
    case "BOOT_FAIL":
      return stopped("launch_failed", exit, "its nodes could not be started (BOOT_FAIL)");
    case "CANCELLED":
    case "TIMEOUT":
    case "DEADLINE":
    case "PREEMPTED":
      return exit !== null && endedByItself(exit) ? byRecord(exit) : stoppedBySlurm(told, told.state, exit);
    default:
      return told.state satisfies never;
  }
}

const STOPS = {
  CANCELLED: "cancelled",
  TIMEOUT: "timeout",
  DEADLINE: "timeout",
  PREEMPTED: "preempted",
} as const;

const STOP_REASONS = {
  TIMEOUT: "it ran into its walltime",
  DEADLINE: "it could not end before its deadline, so Slurm stopped it (DEADLINE)",
  PREEMPTED: "a job of higher priority took its place",
} as const;

function stoppedBySlurm(told: Told, state: keyof typeof STOPS, exit: ExitRecord | null): Verdict {
  const reason = state === "CANCELLED" ? cancelReason(told) : STOP_REASONS[state];
  const verdict = stopped(STOPS[state], exit, reason);
  // Without a record, Slurm's code is 0 also where there was none. 1 is an artefact of its own at a deadline.
  const signal = state === "DEADLINE" ? 0 : (told.exit?.signal ?? 0);
  return exit === null && signal > 0 && signal < 32 ? { ...verdict, signal } : verdict;
}

function cancelReason({ by, reason }: Told): string | null {
  if (reason === "DependencyNeverSatisfied")
    return "Slurm cancelled it, because a job it depends on ended the wrong way (DependencyNeverSatisfied)";
  if (by === null) return null;
  const who = by === "0" ? "root" : /^\d+$/.test(by) ? `user id ${by}` : by;
  return `cancelled at the scheduler by ${who}`;
}

function endedByItself(exit: ExitRecord): boolean {
  return exit.started && exit.termAtMs === null && exit.signal === null;
}

function stopped(kind: JobEnd["kind"], exit: ExitRecord | null, reason: string | null): Verdict {
  const signal = exit?.signal ?? null;
  const exitCode = signal === null ? (exit?.exitCode ?? null) : null;
  return { kind, exitCode, signal, reason, isByRecord: false };
}

function outOfMemoryReason(exit: ExitRecord | null): string | null {
  return exit?.exitCode === 0
    ? "some of its processes were ended for want of memory, though its script exited 0"
    : null;
}

function byRecord(exit: ExitRecord): Verdict {
  const { kind, exitCode, signal, reason } = endOfExit(exit, 1);
  return { kind, exitCode, signal, reason, isByRecord: true };
}

/** What slurmd tells in place of a signal when it could not open the work directory or the output file (22.05, 24.11). */
const NO_PLACE = 53;

function byStatus({ state, exit, reason, nodes }: Told, { began, problem, said = null }: Evidence): Verdict {
  const bare = { exitCode: null, signal: null, isByRecord: false };
  // 24.11 lets a request that no node can ever meet fail at once, with a status of 0:1 that nobody exited with.
  if (state === "FAILED" && !began && nodes.length === 0)
    return {
      ...bare,
      kind: "launch_failed",
      reason: `Slurm could not give it any nodes (${reason ?? "FAILED"})`,
    };
  const place = "its work directory or output file could not be opened on the node";
  if (exit?.signal === NO_PLACE)
    return { ...bare, kind: "launch_failed", reason: withSaid(problem ?? place, said) };
  if (exit !== null && exit.signal > 0) {
    const why = exit.signal === 9 ? "killed from outside; often for using too much memory" : null;
    return { ...bare, kind: "signalled", signal: exit.signal, reason: why };
  }
  const exitCode = exit === null || exit.lossy === true ? null : exit.code;
  if (state === "FAILED" && !began)
    return {
      ...bare,
      kind: "launch_failed",
      exitCode,
      reason: withSaid(problem ?? notBegun(exit, reason), said),
    };
  return { ...bare, kind: "exited", exitCode, reason: exit?.lossy === true ? lossyReason(exit) : null };
}

/** Of the wrapper (64, 73, 76) and of every shell (126, 127). */
const CODES: Readonly<Record<number, string>> = {
  64: "the wrapper was called wrongly",
  73: "the job could not set itself up on its node: a directory, a file or a module is missing",
  126: "a program of the batch script may not be run on the node",
  127: "a program of the batch script is missing on the node",
};

function notBegun(exit: ExitStatus | null, reason: string | null): string {
  const code = exit === null ? null : CODES[exit.code];
  if (code !== undefined && code !== null) return `${code} (exit code ${exit?.code})`;
  const detail = exit === null || exit.code === 0 ? reason : `exit code ${exit.code}`;
  return `the job ended before its script began${detail === null ? "" : ` (${detail})`}`;
}

function withSaid(reason: string, said: string | null): string {
  return said === null ? reason : `${reason}: ${said}`;
}

function lossyReason({ code }: ExitStatus): string {
  if (code === 0) return "exit code 128, by the accounting of Slurm before 25.11";
  return `exit code ${code} or ${code + 128}: the accounting of Slurm before 25.11 does not tell which`;
}

/** A run that was this much shorter than its walltime may still have been stopped by it: nodes take time to prepare. */
const WALLTIME_SLACK_SECONDS = 60;

/** The end of a job that Slurm has forgotten, from the record alone: a TERM is read by when it came. */
export function endOfRecordAlone(
  record: ExitRecord,
  { walltimeSeconds, cpus }: { readonly walltimeSeconds: number; readonly cpus: number },
): JobEnd {
  const end = endOfExit(record, cpus);
  if (record.timedOut || record.termAtMs === null) return end;
  const ranSeconds = (record.endedAtMs - record.startedAtMs) / 1000;
  // Half of a walltime that is itself not longer than the slack.
  const enough = Math.max(walltimeSeconds - WALLTIME_SLACK_SECONDS, walltimeSeconds / 2);
  if (record.started && ranSeconds >= enough)
    return { ...end, kind: "timeout", reason: "it ran into its walltime" };
  return { ...end, kind: "cancelled", reason: "it was sent TERM; who asked is no longer known" };
}
