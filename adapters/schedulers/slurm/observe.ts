import type { JobRef, Observation } from "../../../src/domain/adapter.ts";
import { asBridgeError } from "../shared/atomic-file.ts";
import { inParallel } from "../shared/until-aborted.ts";
import type { Accounts } from "./account.ts";
import { type Judgement, judgeAbsent, judgeEnded } from "./judge.ts";
import { carriesMark, findJob, type SlurmJob } from "./places.ts";
import { type QueueAnswer, queueOf } from "./queue.ts";
import type { QueueRow } from "./queue-rows.ts";
import type { SlurmRoom } from "./room.ts";
import { readState } from "./states.ts";

const WIDTH = 16;

/** What one adapter remembers between two looks. */
export type Watch = {
  readonly accounts: Accounts;
  /** Batch jobs that found their claim taken, by id: the job that holds it. */
  readonly holders: Map<string, string>;
  /** What the last look said, and when: a cancel need not ask again. Of live tasks alone. */
  readonly seen: Map<string, { readonly kind: Observation["kind"]; readonly atMs: number }>;
};

export function createWatch(accounts: Accounts): Watch {
  return { accounts, holders: new Map(), seen: new Map() };
}

type Target = SlurmJob & { readonly id: string };

/**
 * What the controller says of each job, in one look; where it says that a job is over, or knows it no longer, the job's
 * files and accounting decide. A second look is needed only for a batch job that lost its claim to another.
 */
export async function observeJobs(
  room: SlurmRoom,
  watch: Watch,
  refs: readonly JobRef[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Observation>> {
  const answers = new Map<string, Observation>();
  const targets: Target[] = [];
  for (const ref of refs) {
    const job = findJob(room, ref);
    if (job !== null) targets.push({ ...job, id: watch.holders.get(keyOf(ref)) ?? ref.id });
    else answers.set(ref.id, { kind: "unknown", why: "not a job of this target", gone: false });
  }
  const moved = await look(room, watch, { targets, answers }, signal);
  // A holder that lost its claim in turn is looked at by the next call.
  if (moved.length > 0) await look(room, watch, { targets: moved, answers }, signal);
  remember(room, watch, answers);
  return answers;
}

function keyOf(ref: JobRef): string {
  return `${ref.mark}.${ref.attempt}.${ref.id}`;
}

type Looking = { readonly targets: readonly Target[]; readonly answers: Map<string, Observation> };

async function look(
  room: SlurmRoom,
  watch: Watch,
  { targets, answers }: Looking,
  signal: AbortSignal,
): Promise<Target[]> {
  if (targets.length === 0) return [];
  const queue = await queueOf(room, [...new Set(targets.map(({ id }) => id))], signal);
  const rows = new Map(queue.rows.map((row) => [row.id, row]));
  const open: { readonly target: Target; readonly row: QueueRow | null }[] = [];
  for (const target of targets) {
    const row = rows.get(target.id);
    const ours = row !== undefined && carriesMark(room, row, target.ref.mark) ? row : null;
    const answer = ours === null ? null : aliveOf(ours, room.now());
    if (answer === null) open.push({ target, row: ours });
    else answers.set(target.ref.id, answer);
  }
  const account = await accountOf(room, watch, { open, queue }, signal);
  const judged = await inParallel(open, WIDTH, ({ target, row }) =>
    (row === null
      ? judgeAbsent(room, target, { account, whole: queue.whole })
      : judgeEnded(room, target, row)
    ).catch((error: unknown) => unreadable(room, error)),
  );
  const moved: Target[] = [];
  for (const [index, { target }] of open.entries()) {
    const judgement: Judgement | undefined = judged[index];
    if (judgement === undefined) continue;
    if (judgement.kind === "held_by") {
      watch.holders.set(keyOf(target.ref), judgement.id);
      moved.push({ ...target, id: judgement.id });
      answers.set(target.ref.id, { kind: "unknown", why: `batch job ${judgement.id} runs it`, gone: false });
    } else answers.set(target.ref.id, judgement);
  }
  return moved;
}

/** A job that barred its own directory, or wrote nonsense there, keeps nobody else from an answer. */
function unreadable(room: SlurmRoom, error: unknown): Observation {
  const doing = "reading what the job's directory says";
  const { message } = asBridgeError(error, { fault: "unreadable", target: room.target, doing });
  return { kind: "unknown", why: message, gone: false };
}

/** What a job is doing; null when it is over. */
function aliveOf(row: QueueRow, nowMs: number): Observation | null {
  const reading = readState(row.state, row.reason);
  switch (reading.kind) {
    case "queued":
    case "held":
      return { kind: reading.kind, requeues: row.requeues, reason: reading.reason };
    case "suspended":
      return { kind: "suspended", reason: reading.reason };
    case "running":
      if (isLeaving(row, nowMs))
        return {
          kind: "queued",
          requeues: row.requeues,
          reason: "it is being requeued; its last run is ended",
        };
      return {
        kind: "running",
        nodes: row.nodes,
        sinceMs: row.startMs,
        requeues: row.requeues,
        reason: reading.reason,
      };
    case "unknown":
      return { kind: "unknown", why: reading.why, gone: false };
    case "ended":
      return null;
    default:
      return reading satisfies never;
  }
}

/**
 * COMPLETING hides whether the job is over or will wait again. One that is requeued counts that requeue already, so that
 * its last run must not be told as the next; it still has the end that was expected, one that is over has its real end.
 */
function isLeaving(row: QueueRow, nowMs: number): boolean {
  return /^(COMPLETING|CG)$/.test(row.state) && row.requeues > 0 && row.endMs !== null && row.endMs > nowMs;
}

type Open = {
  readonly open: readonly { readonly target: Target; readonly row: QueueRow | null }[];
  readonly queue: QueueAnswer;
};

async function accountOf(room: SlurmRoom, watch: Watch, { open, queue }: Open, signal: AbortSignal) {
  const absent = open.filter(({ row }) => row === null).map(({ target }) => target.id);
  if (absent.length === 0 || !queue.whole)
    return { kind: "silent" as const, why: "accounting was not asked" };
  // Ids are used again only after tens of millions of jobs, or within seconds of a controller's crash: a month is safe.
  return watch.accounts.ask(absent, room.now() - 31 * 86_400_000, signal);
}

function remember(room: SlurmRoom, watch: Watch, answers: ReadonlyMap<string, Observation>): void {
  const atMs = room.now();
  for (const [id, { kind }] of answers) watch.seen.set(id, { kind, atMs });
  // Only what was looked at lately is of use.
  if (watch.seen.size < 50_000) return;
  for (const [id, { atMs: seenMs }] of watch.seen) if (atMs - seenMs > 60_000) watch.seen.delete(id);
}
