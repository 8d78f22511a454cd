import { stat } from "node:fs/promises";
import type { JobRef } from "../../../src/domain/adapter.ts";
import { unlessCode } from "../shared/atomic-file.ts";
import { listAttempts } from "../shared/attempts.ts";
import { readClaim } from "../shared/claim.ts";
import { isJobDirectory } from "../shared/job-directory.ts";
import type { JobLayout } from "../shared/job-layout.ts";
import { layoutOf } from "../shared/mark.ts";
import { inParallel } from "../shared/until-aborted.ts";
import { accountByName } from "./account.ts";
import { callSlurm } from "./ask-slurm.ts";
import { idOfIdentity } from "./batch-script.ts";
import { attemptOf } from "./commands.ts";
import { carriesMark } from "./places.ts";
import { queueByName } from "./queue.ts";
import type { SlurmRoom } from "./room.ts";
import { readState } from "./states.ts";

const WIDTH = 16;
/** How far apart the clocks of controller and file server may be. */
const CLOCKS_MS = 60_000;

/** What the files say of a mark: its job, or the attempts whose job may be waiting in the queue. */
type Trace = {
  readonly mark: string;
  readonly found: JobRef | null;
  /** Accepted and not given up, the newest first. */
  readonly open: readonly number[];
  readonly sinceMs: number;
};

/**
 * The jobs of these marks. A claim that a job holds is proof; without one the queue is asked for the name, and
 * accounting where the attempt is so old that the queue may have forgotten it. A mark without a directory has no job:
 * the directory is there before sbatch is.
 */
export async function locateMarks(
  room: SlurmRoom,
  marks: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, JobRef | null>> {
  const traces = await inParallel(marks, WIDTH, (mark) => traceOf(mark, layoutOf(room, mark)));
  const open = traces.filter(({ found, open: attempts }) => found === null && attempts.length > 0);
  const waiting = open.length === 0 ? new Map<string, JobRef>() : await findWaiting(room, open, signal);
  return new Map(traces.map(({ mark, found }) => [mark, found ?? waiting.get(mark) ?? null]));
}

async function traceOf(mark: string, layout: JobLayout): Promise<Trace> {
  const none = { mark, found: null, open: [], sinceMs: 0 };
  if (!(await isJobDirectory(layout))) return none;
  const open: number[] = [];
  for (const attempt of await listAttempts(layout)) {
    const claim = await readClaim(layout, attempt);
    const id = claim?.kind === "job" ? idOfIdentity(claim.identity) : null;
    if (id !== null) return { ...none, found: { id, mark, attempt } };
    if (claim?.kind !== "seized") open.push(attempt);
  }
  const oldest = open.at(-1);
  if (oldest === undefined) return none;
  const file = await unlessCode(["ENOENT"], null, () => stat(layout.attempt(oldest)));
  return { mark, found: null, open, sinceMs: file?.mtimeMs ?? 0 };
}

type Candidate = { readonly id: string; readonly attempt: number; readonly ended: boolean };

async function findWaiting(
  room: SlurmRoom,
  traces: readonly Trace[],
  signal: AbortSignal,
): Promise<Map<string, JobRef>> {
  const names = traces.map(({ mark }) => mark);
  const rows = await queueByName(room, names, signal);
  const found = new Map<string, JobRef>();
  const ghosts: string[] = [];
  for (const { mark, open } of traces) {
    const ours = rows
      .filter((row) => carriesMark(room, row, mark))
      .map((row) => ({
        id: row.id,
        attempt: attemptOf(row.comment, mark) ?? open[0] ?? 0,
        ended: readState(row.state, row.reason).kind === "ended",
      }));
    const best = bestOf(ours.filter(({ attempt }) => open.includes(attempt)));
    if (best !== null) found.set(mark, { id: best.id, mark, attempt: best.attempt });
    ghosts.push(...ours.filter((one) => !one.ended && !open.includes(one.attempt)).map(({ id }) => id));
  }
  // Their attempts were given up, so they could only start in order to leave again.
  if (ghosts.length > 0) await callSlurm(room, "scancel", ghosts, { signal });
  await findForgotten(room, traces, found, signal);
  return found;
}

/** A job that lives comes before one that has ended, then the oldest. */
function bestOf(candidates: readonly Candidate[]): Candidate | null {
  const order = candidates.toSorted(
    (a, b) => Number(a.ended) - Number(b.ended) || Number(a.id) - Number(b.id),
  );
  return order[0] ?? null;
}

/** Jobs that ended without ever starting and that the controller has dropped since. */
async function findForgotten(
  room: SlurmRoom,
  traces: readonly Trace[],
  found: Map<string, JobRef>,
  signal: AbortSignal,
): Promise<void> {
  const keptMs = ((await room.facts.get(room, signal)).minJobAgeSeconds ?? 300) * 1000;
  const old = traces.filter(({ mark, sinceMs }) => !found.has(mark) && room.now() - sinceMs > keptMs);
  if (old.length === 0) return;
  const sinceMs = Math.min(...old.map((trace) => trace.sinceMs));
  const names = old.map(({ mark }) => mark);
  for (const life of await accountByName(room, names, sinceMs, signal)) {
    const trace = old.find(({ mark }) => mark === life.name);
    const [attempt] = trace?.open ?? [];
    if (trace === undefined || attempt === undefined || !carriesMark(room, life, trace.mark)) continue;
    // An older one was submitted from a directory that is no more.
    if ((life.submitMs ?? 0) < trace.sinceMs - CLOCKS_MS) continue;
    found.set(trace.mark, { id: life.id, mark: trace.mark, attempt });
  }
}
