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
  "JobIDRaw",
  "State",
  "ExitCode",
  "Submit",
  "Start",
  "End",
  "AllocCPUS",
  "NodeList",
  "JobName",
  "User",
] as const;

/**
 * For `sacct -n -P -X -D --delimiter=<U+001F> -o`, with SLURM_TIME_FORMAT=%s in its environment. All of these exist from
 * 20.11 to 26.05; Restarts came only with 23.02, so lives are counted by their rows.
 */
export const ACCOUNT_FORMAT = FIELDS.join(",");

/**
 * One life of a job as accounting shows it. `state` may be `CANCELLED by 1001`. A job that was cancelled before it
 * started may carry a start, and then has no nodes.
 */
export type AccountRow = {
  readonly id: string;
  readonly name: string;
  readonly user: string;
  readonly state: string;
  readonly exit: ExitStatus | null;
  readonly submitMs: number | null;
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly cpus: number | null;
  readonly nodes: string[];
};

/** For a moment sacct calls a new job so, and leaves other fields empty: that is not yet a row. */
const NAME_TO_COME = "allocation";

/**
 * Reads what `sacct -n -P -X -D -o ACCOUNT_FORMAT` printed. Before 25.11 sacct takes 128 off an exit code of 128 and more
 * (255 is told as 127, and 128 as 0), so that the code of a FAILED job is `lossy` unless it is told as 128 or more, or
 * `version` (as in `scontrol show config`) is new enough.
 */
export function parseAccount(stdout: string, version: string | null = null): Parsed<AccountRow> {
  const isWhole = tellsWholeCodes(version);
  const { rows, problems } = parseLines(stdout, (line) => accountRow(line, isWhole));
  return { rows: rows.filter((row) => row.name !== NAME_TO_COME), problems };
}

function tellsWholeCodes(version: string | null): boolean {
  const [, year, month] = /^(\d+)\.(\d+)/.exec(version ?? "") ?? [];
  return Number(year) * 100 + Number(month) >= 2511;
}

function accountRow(line: string, isWhole: boolean): AccountRow | null {
  const parts = line.split(SEPARATOR).map((part) => part.trim());
  if (parts.length !== FIELDS.length) return null;
  const [id = "", state = "", exit, submit, start, end, cpus, nodes = "", name = "", user = ""] = parts;
  const submitMs = epochMs(submit);
  const startMs = epochMs(start);
  const endMs = epochMs(end);
  if (startMs === undefined || endMs === undefined || submitMs === undefined) return null;
  if (!/^[1-9]\d{0,9}$/.test(id) || name === "" || !/^[A-Z_]+(?: by \S+)?$/.test(state)) return null;
  const status = exitStatus(exit);
  const lossy = !isWhole && state === "FAILED" && status !== null && status.signal === 0 && status.code < 128;
  return {
    id,
    name,
    user,
    state,
    exit: lossy ? { ...status, lossy } : status,
    submitMs,
    startMs,
    endMs,
    cpus: countOf(cpus),
    nodes: expandHosts(nodes),
  };
}

/**
 * The newest life of each job, by submit time, which a requeue sets anew. Ids are used again: rows under another name
 * belong to another job and count for nothing. `requeues` is right only when the rows of all lives were asked for.
 */
export function newestLives(
  rows: readonly AccountRow[],
): Map<string, AccountRow & { readonly requeues: number }> {
  const newest = new Map<string, AccountRow>();
  for (const row of rows) {
    const known = newest.get(row.id);
    if (known === undefined || (row.submitMs ?? 0) >= (known.submitMs ?? 0)) newest.set(row.id, row);
  }
  const lives = new Map<string, AccountRow & { readonly requeues: number }>();
  for (const [id, row] of newest) {
    const all = rows.filter((other) => other.id === id && other.name === row.name);
    lives.set(id, { ...row, requeues: all.length - 1 });
  }
  return lives;
}
