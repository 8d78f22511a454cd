import {
  countOf,
  type ExitStatus,
  epochMs,
  exitStatus,
  type Parsed,
  parseLines,
  SEPARATOR,
} from "./fields.ts";
import { expandHosts } from "./hosts.ts";

const FIELDS = [
  "JobID",
  "Name",
  "UserName",
  "State",
  "StartTime",
  "EndTime",
  "SubmitTime",
  "NumCPUs",
  "NodeList",
  "RestartCnt",
  "exit_code",
  "Requeue",
  "WorkDir",
  "Comment",
  "Reason",
] as const;

/** For `squeue -h -O`, with SLURM_TIME_FORMAT=%s in its environment: times are read as seconds since the epoch. */
export const QUEUE_FORMAT = FIELDS.map((field) => `${field}:${SEPARATOR}`).join(",");

/**
 * One job as squeue shows it. Start and end of a job that has not come to them are what Slurm expects. `exit` means
 * something only for an ended job. `nodes`: at most 1,000. `mayRequeue`: null where it is not told.
 */
export type QueueRow = {
  readonly id: string;
  readonly name: string;
  readonly user: string;
  readonly state: string;
  readonly reason: string;
  readonly comment: string | null;
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly submitMs: number | null;
  readonly cpus: number | null;
  readonly nodes: string[];
  readonly requeues: number;
  readonly exit: ExitStatus | null;
  readonly mayRequeue: boolean | null;
  /** As it was submitted with --chdir. */
  readonly workDir: string | null;
};

/**
 * Reads what `squeue -h -O QUEUE_FORMAT` printed. A line counts only when it is whole: the separator after the reason
 * is the last of it, so that a line which was cut off anywhere is a problem and never a row.
 */
export function parseQueue(stdout: string): Parsed<QueueRow> {
  return parseLines(stdout, queueRow);
}

function queueRow(line: string): QueueRow | null {
  const parts = line.split(SEPARATOR).map((part) => part.trim());
  if (parts.length <= FIELDS.length || parts.pop() !== "") return null;
  const [id = "", name = "", user = "", state = "", start, end, submit, cpus, nodes = "", restarts, exit] =
    parts;
  const [requeue, workDir = "", comment = "", ...reason] = parts.slice(11);
  const startMs = epochMs(start);
  const endMs = epochMs(end);
  const submitMs = epochMs(submit);
  const requeues = countOf(restarts);
  // Lines that ran into each other show themselves by times and counts that are none.
  if (startMs === undefined || endMs === undefined || submitMs === undefined || requeues === null)
    return null;
  if (!/^[1-9]\d{0,9}$/.test(id) || name === "" || !/^[A-Z_]+$/.test(state)) return null;
  return {
    id,
    name,
    user,
    state,
    // It may hold anything, the separator too.
    reason: reason.join(SEPARATOR),
    comment: comment === "" || comment === "(null)" ? null : comment,
    startMs,
    endMs,
    submitMs,
    cpus: countOf(cpus),
    nodes: expandHosts(nodes),
    requeues,
    exit: exitStatus(exit),
    mayRequeue: requeue === "1" ? true : requeue === "0" ? false : null,
    workDir: workDir === "" || workDir === "(null)" ? null : workDir,
  };
}
