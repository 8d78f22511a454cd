import { z } from "zod";
import type { JobEnd } from "./adapter.ts";
import type { Findings } from "./translator.ts";

/** What the output says about the solution. `unknown`: neither log, exit code nor scheduler tell. */
export const EndState = z.enum([
  "converged",
  "finished",
  "finished_not_converged",
  "stopped_gracefully",
  "stopped",
  "diverged",
  "failed",
  "unknown",
]);
export type EndState = z.infer<typeof EndState>;

export const Outcome = z.object({
  kind: z.enum([
    "succeeded",
    "failed",
    "diverged",
    "cancelled",
    "rejected",
    "timeout",
    "out_of_memory",
    "node_fail",
    "preempted",
    "launch_failed",
    "lost",
  ]),
  /** True when exit code and verdict both say that the job did what it was asked to. */
  ok: z.boolean(),
  exitCode: z.number().int().nullable(),
  signal: z.string().nullable(),
  reason: z.string().nullable(),
  verdict: EndState,
  /** Which witnesses led to kind and verdict, strongest first. */
  basis: z.array(z.string()),
  node: z.string().nullable(),
  requeues: z.number().int().nonnegative(),
  billed: z.object({ coreSeconds: z.number().nullable() }),
});
export type Outcome = z.infer<typeof Outcome>;

const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  5: "SIGTRAP",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  10: "SIGUSR1",
  11: "SIGSEGV",
  12: "SIGUSR2",
  13: "SIGPIPE",
  14: "SIGALRM",
  15: "SIGTERM",
  24: "SIGXCPU",
  25: "SIGXFSZ",
};

/** Name of a POSIX signal on Linux, or `signal N`. */
export function signalName(signal: number): string {
  return SIGNALS[signal] ?? `signal ${signal}`;
}

type Verdict = { readonly state: EndState; readonly basis: readonly string[] };

type Ending = {
  readonly exitCode: number | null;
  readonly signal: number | null;
  /** The scheduler stopped it (walltime, memory, node, preemption): outranks everything the log says. */
  readonly killedBy: string | null;
  readonly termSeen: boolean;
};

/**
 * The fixed precedence: killed by the scheduler > fatal marker > nan or unbounded values > graceful stop on request >
 * signal > exit code > missing end marker > not converged > converged > finished. Exit 0 is never read as convergence.
 */
export function judge(ending: Ending, findings: Findings): Verdict {
  const { exitCode, signal } = ending;
  const stopSignal = signal !== null && [1, 2, 9, 10, 12, 15].includes(signal);
  if (ending.killedBy !== null) return { state: "stopped", basis: [`scheduler:${ending.killedBy}`] };
  if (findings.fatal !== null) return { state: "failed", basis: ["fatal_marker", `text:${findings.fatal}`] };
  if (findings.diverged !== null)
    return { state: "diverged", basis: ["diverged", `text:${findings.diverged}`] };
  if (findings.stoppedByRequest) return { state: "stopped_gracefully", basis: ["stop_message"] };
  if (signal !== null) {
    const state = stopSignal ? "stopped" : signal === 8 ? "diverged" : "failed";
    return { state, basis: [`signal:${signalName(signal)}`] };
  }
  if (exitCode !== null && exitCode !== 0) return { state: "failed", basis: [`exit_code:${exitCode}`] };
  if (findings.endMarker === false) {
    if (exitCode === null) return { state: "unknown", basis: ["no_end_marker", "no_exit_code"] };
    return {
      state: ending.termSeen ? "stopped" : "unknown",
      basis: ["no_end_marker", `exit_code:${exitCode}`],
    };
  }
  const end = findings.endMarker === true ? ["end_marker"] : [];
  const code = exitCode === null ? [] : [`exit_code:${exitCode}`];
  if (findings.converged === false)
    return { state: "finished_not_converged", basis: ["not_converged", ...end, ...code] };
  if (findings.converged === true) return { state: "converged", basis: ["converged", ...end, ...code] };
  if (end.length + code.length === 0) return { state: "unknown", basis: ["no_exit_code"] };
  return { state: "finished", basis: [...end, ...code] };
}

/** Ends by which the scheduler itself stopped the job. */
const KILLED_BY_SCHEDULER: readonly JobEnd["kind"][] = [
  "timeout",
  "out_of_memory",
  "node_fail",
  "preempted",
  "cancelled",
];

/**
 * Joins the scheduler's end and the log's findings. `stoppedByUs` is the rule of "cancelled": cancel was asked and the
 * stop came first (no start at all, or the scheduler says cancelled, or the wrapper noted a TERM).
 */
export function concludeOutcome(end: JobEnd, findings: Findings, stoppedByUs: boolean): Outcome {
  const verdict = verdictOf(end, findings);
  const basis = [...verdict.basis, `witness:${end.witness}`];
  const shared = {
    exitCode: end.exitCode,
    signal: end.signal === null ? null : signalName(end.signal),
    verdict: verdict.state,
    basis,
    node: end.node,
    requeues: end.requeues,
    billed: { coreSeconds: end.coreSeconds },
  };
  const kind = stoppedByUs ? "cancelled" : outcomeKind(end, verdict.state);
  const byOthers = end.kind === "cancelled" && !stoppedByUs ? STOPPED_BY_OTHERS : null;
  return { kind, ok: kind === "succeeded", reason: end.reason ?? byOthers, ...shared };
}

const STOPPED_BY_OTHERS = "cancelled at the scheduler, not through this task";

function verdictOf(end: JobEnd, findings: Findings): Verdict {
  const killedBy = KILLED_BY_SCHEDULER.includes(end.kind) ? end.kind : null;
  // An exit code of 0 says nothing when the script never had its turn.
  if (!end.started && killedBy === null) return { state: "unknown", basis: ["never_started"] };
  const { exitCode, signal } = end;
  return judge({ exitCode, signal, killedBy, termSeen: end.termAtMs !== null }, findings);
}

function outcomeKind(end: JobEnd, verdict: EndState): Outcome["kind"] {
  switch (end.kind) {
    case "timeout":
    case "out_of_memory":
    case "node_fail":
    case "preempted":
    case "launch_failed":
      return end.kind;
    // "cancelled" is kept for our own stop; somebody else's is a failure to the caller.
    case "cancelled":
      return "failed";
    case "vanished":
    case "signalled":
      return verdict === "diverged" ? "diverged" : "failed";
    case "exited":
      if (!end.started) return "launch_failed";
      if (verdict === "diverged") return "diverged";
      return end.exitCode === 0 && verdict !== "failed" ? "succeeded" : "failed";
    default:
      return end.kind satisfies never;
  }
}

/** An outcome for a task whose job never came to be, or is lost. */
export function outcomeWithoutJob(kind: "rejected" | "cancelled" | "lost", reason: string): Outcome {
  return {
    kind,
    ok: false,
    exitCode: null,
    signal: null,
    reason,
    verdict: "unknown",
    basis: [kind],
    node: null,
    requeues: 0,
    billed: { coreSeconds: null },
  };
}
