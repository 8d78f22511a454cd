import { openInputs, type Phase, type TaskRecord } from "../domain/task.ts";
import type { Progress } from "../domain/translator.ts";
import { durationText, nodesText, oneLine } from "./words.ts";

/** What a live task's line is made of, beside progress and the time of asking. Plain JSON, small. */
export type LiveHead = {
  readonly phase: Phase;
  readonly target: string;
  readonly reason: string | null;
  readonly nodes: readonly string[];
  /** When the present phase, as far as a person cares, began. */
  readonly sinceMs: number;
  readonly updatedAtMs: number;
  readonly isCancelling: boolean;
  /** The first open question, in words; null when there is none. */
  readonly question: string | null;
  /** Why the scheduler cannot tell about the job; null while it can. */
  readonly unseen: string | null;
};

export type LiveProgress = Progress & { readonly atMs: number };

const QUICK_POLL_MS = 1000;
const SLOW_POLL_MS = 10_000;
const REASON_CHARACTERS = 160;

export function liveHead(record: TaskRecord): LiveHead {
  const running = record.phase === "running" || record.phase === "suspended";
  return {
    phase: record.phase,
    target: record.target,
    reason: record.reason,
    nodes: record.nodes,
    sinceMs: (running ? record.startedAtMs : record.queuedAtMs) ?? record.createdAtMs,
    updatedAtMs: record.updatedAtMs,
    isCancelling: record.cancel !== null,
    question: question(record),
    // One failed look is no news.
    unseen: record.unseen === null || record.unseen.looks < 2 ? null : record.unseen.why,
  };
}

/** One line fit for a person: `running 12m on c3 · step 4200 of 12000 · p 3.1e-4 · ETA 11m`. */
export function liveMessage(
  head: LiveHead,
  progress: LiveProgress | null,
  at: { readonly nowMs: number; readonly isTargetKnown: boolean },
): string {
  const parts = [
    ...(head.isCancelling ? ["cancelling"] : []),
    ...(head.question === null ? [] : [`input needed: ${oneLine(head.question, REASON_CHARACTERS)}`]),
    phaseText(head, at.nowMs),
  ];
  if (!at.isTargetKnown) parts.push(`target ${head.target} is not configured here`);
  if (head.unseen !== null) {
    parts.push(
      `${head.target} cannot tell about the job just now (${oneLine(head.unseen, REASON_CHARACTERS)})`,
    );
  }
  if (progress !== null && hasStarted(head.phase)) parts.push(...progressParts(head, progress, at.nowMs));
  return parts.join(" · ");
}

/** Widens with the time spent waiting, up to 10 s; 1 s while there is something to see. */
export function pollIntervalMs(head: LiveHead, nowMs: number): number {
  const waits = head.phase === "queued" || head.phase === "held" || head.phase === "suspended";
  if (!waits || head.question !== null) return QUICK_POLL_MS;
  const widened = Math.round((nowMs - head.sinceMs) / 10);
  return Math.min(SLOW_POLL_MS, Math.max(QUICK_POLL_MS, widened));
}

function phaseText(head: LiveHead, nowMs: number): string {
  const lasted = durationText(nowMs - head.sinceMs);
  const why = head.reason === null ? "" : ` (${oneLine(head.reason, REASON_CHARACTERS)})`;
  switch (head.phase) {
    case "accepted":
      return `accepted, about to be submitted to ${head.target}`;
    case "submitting":
      return `being submitted to ${head.target}${why}`;
    case "queued":
      return `queued ${lasted} on ${head.target}${why}`;
    case "held":
      return `held ${lasted} on ${head.target}${why}`;
    case "running":
      return `running ${lasted} on ${head.nodes.length > 0 ? nodesText(head.nodes) : head.target}`;
    case "suspended":
      return `suspended on ${head.target}${why}`;
    case "collecting":
      return "the job has stopped; collecting its output";
    case "ended":
      return "ended";
    default:
      return head.phase satisfies never;
  }
}

function hasStarted(phase: Phase): boolean {
  return phase === "running" || phase === "suspended" || phase === "collecting";
}

function progressParts(head: LiveHead, progress: LiveProgress, nowMs: number): string[] {
  const parts: string[] = [];
  const { text, current, total, unit, etaSeconds } = progress;
  if (text !== null) parts.push(oneLine(text, REASON_CHARACTERS));
  else if (current !== null)
    parts.push(`${unit ?? "step"} ${current}${total === null ? "" : ` of ${total}`}`);
  if (etaSeconds !== null && Number.isFinite(etaSeconds) && head.phase === "running") {
    parts.push(`ETA ${durationText(etaSeconds * 1000 - (nowMs - progress.atMs))}`);
  }
  return parts;
}

function question(record: TaskRecord): string | null {
  const open = openInputs(record)[0];
  if (open === undefined) return null;
  const params = open.request["params"];
  const message =
    typeof params === "object" && params !== null && !Array.isArray(params) ? params["message"] : undefined;
  return typeof message === "string" ? message : open.key;
}
