import type { Outcome } from "../domain/outcome.ts";
import type { TaskRecord } from "../domain/task.ts";
import { durationText, nodesText, oneLine } from "./words.ts";

const HEADLINE: Readonly<Record<Outcome["kind"], string>> = {
  succeeded: "succeeded",
  failed: "failed",
  diverged: "diverged",
  cancelled: "cancelled",
  rejected: "refused by the scheduler",
  timeout: "stopped at its time limit",
  out_of_memory: "stopped because it ran out of memory",
  node_fail: "stopped because its node failed",
  preempted: "preempted",
  launch_failed: "could not be launched",
  lost: "lost: no witness can tell what became of the job",
};

/** The whole outcome on one line, for statusMessage and the first line of a result. */
export function outcomeLine(record: TaskRecord): string {
  const { outcome } = record;
  if (outcome === null) return "ended";
  const parts = [HEADLINE[outcome.kind]];
  if (isTelling(outcome)) parts.push(outcome.verdict.replaceAll("_", " "));
  if (outcome.signal !== null) parts.push(outcome.signal);
  else if (outcome.exitCode !== null && outcome.exitCode !== 0) parts.push(`exit code ${outcome.exitCode}`);
  if (outcome.reason !== null) parts.push(oneLine(outcome.reason, 200));
  if (finishedBeforeCancel(record)) parts.push("finished before the cancel took effect");
  const ran = ranText(record);
  if (ran !== null) parts.push(ran);
  const summary = record.result?.summary ?? null;
  if (summary !== null) parts.push(oneLine(summary, 200));
  return parts.join(" · ");
}

/** `ran 12m on c3`; null when the script never began. */
function ranText(record: TaskRecord): string | null {
  const startedAtMs = record.startedAtMs ?? record.end?.startedAtMs ?? null;
  const stoppedAtMs = record.end?.endedAtMs ?? record.collectingAtMs ?? record.endedAtMs;
  if (startedAtMs === null || stoppedAtMs === null) return null;
  const where = record.nodes.length > 0 ? nodesText(record.nodes) : (record.outcome?.node ?? record.target);
  const requeues = record.outcome?.requeues ?? 0;
  const again = requeues === 0 ? "" : requeues === 1 ? " after one requeue" : ` after ${requeues} requeues`;
  return `ran ${durationText(stoppedAtMs - startedAtMs)} on ${where}${again}`;
}

function isTelling(outcome: Outcome): boolean {
  const { verdict, kind } = outcome;
  return verdict !== "unknown" && verdict !== kind && !(kind === "succeeded" && verdict === "finished");
}

function finishedBeforeCancel(record: TaskRecord): boolean {
  return record.cancel !== null && record.outcome?.kind !== "cancelled" && record.startedAtMs !== null;
}
