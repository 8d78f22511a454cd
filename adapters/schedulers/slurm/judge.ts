import type { JobEnd, Observation } from "../../../src/domain/adapter.ts";
import { errorCode } from "../shared/atomic-file.ts";
import { AttemptRecord, readAttemptAs } from "../shared/attempts.ts";
import { type Claim, readClaim } from "../shared/claim.ts";
import { type ExitRecord, readExit, readNewestLife } from "../shared/exit-record.ts";
import { exists } from "../shared/job-directory.ts";
import type { AccountAnswer, AccountLife } from "./account.ts";
import { identityOf, idOfIdentity } from "./batch-script.ts";
import { endOf, endOfRecordAlone } from "./end.ts";
import { carriesMark, readLastWords, readProblem, type SlurmJob } from "./places.ts";
import type { QueueRow } from "./queue-rows.ts";
import type { SlurmRoom } from "./room.ts";
import { readState } from "./states.ts";

/** An observation, or the batch job that holds this one's claim. */
export type Judgement = Observation | { readonly kind: "held_by"; readonly id: string };

type Judged = SlurmJob & { readonly id: string };

/** How late a file of the node may appear here: NFS keeps attributes for up to a minute. */
const FILE_DELAY_MS = 60_000;

/** The controller says that the job is over: its end, with what the wrapper wrote about this very life. */
export async function judgeEnded(room: SlurmRoom, job: Judged, row: QueueRow): Promise<Judgement> {
  const reading = readState(row.state, row.reason);
  if (reading.kind !== "ended") return unknown(`Slurm shows it as ${row.state}`, false);
  const claimed = await judgeClaim(job);
  if (claimed !== null) return claimed;
  const files = await readFiles(job, row.requeues);
  // A node that was lost writes no record any more, and its word would change nothing.
  const isAwaited = files.began && files.exit === null && reading.state !== "NODE_FAIL";
  const isLate = isAwaited && room.now() - (row.endMs ?? 0) < FILE_DELAY_MS;
  const told = {
    state: reading.state,
    by: reading.by,
    reason: row.reason,
    exit: row.exit,
    startMs: row.startMs,
    endMs: row.endMs,
    nodes: row.nodes,
    cpus: row.cpus,
    requeues: row.requeues,
    witness: "controller" as const,
    settled: row.mayRequeue === false && !isLate,
  };
  return { kind: "ended", end: endOf(told, files) };
}

type Missing = {
  readonly account: AccountAnswer;
  /** The queue's answer could be read to its end. */
  readonly whole: boolean;
};

/** The controller does not know the job, or no longer. Accounting comes first, then the wrapper's record alone. */
export async function judgeAbsent(
  room: SlurmRoom,
  job: Judged,
  { account, whole }: Missing,
): Promise<Judgement> {
  if (!whole) return unknown("a part of what squeue answered cannot be read", false);
  const claimed = await judgeClaim(job);
  if (claimed !== null) return claimed;
  const life = lifeOf(room, job, account);
  const ended = life === null ? null : await endInAccounts(job, life);
  if (ended !== null) return { kind: "ended", end: ended };
  const newest = await readNewestLife(job.layout, identityOf(job.id));
  const exit = newest === null ? null : await readExit(job.layout, newest);
  if (exit !== null) return judgeRecord(room, job, exit, account);
  if (account.kind === "silent") return unknown(`the queue has forgotten it; ${account.why}`, false);
  const still = life === null ? "" : `, and accounting, which still calls it ${life.state}, is behind`;
  return unknown(`neither the queue nor an exit record knows batch job ${job.id}${still}`, true);
}

/** Null: the claim is this batch job's, or nobody's yet. */
async function judgeClaim(job: Judged): Promise<Judgement | null> {
  const claim = await readClaim(job.layout, job.ref.attempt);
  if (claim === null) return null;
  if (claim.kind !== "job") return { kind: "ended", end: withdrawn(claim) };
  if (claim.identity === identityOf(job.id)) return null;
  const id = idOfIdentity(claim.identity);
  if (id !== null) return { kind: "held_by", id };
  return unknown(`the claim is held by ${JSON.stringify(claim.identity.slice(0, 80))}`, false);
}

type Files = {
  readonly exit: ExitRecord | null;
  readonly began: boolean;
  readonly problem: string | null;
  readonly said: string | null;
};

/** What the wrapper wrote in the life with this many requeues. */
async function readFiles(job: Judged, requeues: number): Promise<Files> {
  const problem = await readProblem(job.layout, job.ref.attempt);
  const life = await readNewestLife(job.layout, identityOf(job.id));
  if (life === null || life.requeues !== requeues) {
    // Where the directory is gone too, that it holds no life proves nothing.
    const began = !(await exists(job.layout.own));
    return { exit: null, began, problem, said: await readLastWords(job.layout, problem) };
  }
  return { exit: await readExit(job.layout, life), began: true, problem, said: null };
}

function lifeOf(room: SlurmRoom, job: Judged, account: AccountAnswer): AccountLife | null {
  const life = account.kind === "answered" ? account.lives.get(job.id) : undefined;
  return life !== undefined && carriesMark(room, life, job.ref.mark) ? life : null;
}

async function endInAccounts(job: Judged, life: AccountLife): Promise<JobEnd | null> {
  const reading = readState(life.state, "None");
  if (reading.kind !== "ended") return null;
  const told = {
    ...life,
    state: reading.state,
    by: reading.by,
    reason: null,
    witness: "accounting" as const,
    settled: true,
  };
  return endOf(told, await readFiles(job, life.requeues));
}

/** Accounting may still learn of a walltime or of memory, which the wrapper cannot see: it is waited for, a while. */
async function judgeRecord(
  room: SlurmRoom,
  job: Judged,
  exit: ExitRecord,
  account: AccountAnswer,
): Promise<Judgement> {
  if (account.kind !== "off" && room.now() - exit.endedAtMs < FILE_DELAY_MS)
    return unknown("it has ended, and accounting is still to say how", false);
  const attempt = await readAttemptAs(job.layout, job.ref.attempt, AttemptRecord).catch((error: unknown) => {
    if (errorCode(error) !== null) throw error;
    return null; // what the job made of that file is no reason not to believe its end
  });
  const limits = {
    walltimeSeconds: attempt?.walltimeSeconds ?? Number.POSITIVE_INFINITY,
    cpus: attempt?.cpus ?? 1,
  };
  return { kind: "ended", end: endOfRecordAlone(exit, limits) };
}

function unknown(why: string, gone: boolean): Observation {
  return { kind: "unknown", why, gone };
}

/** The attempt's claim was taken by us, so it never ran. */
function withdrawn(claim: Exclude<Claim, { kind: "job" }>): JobEnd {
  const reason =
    claim.kind === "seized" ? "this attempt was given up before it began" : "cancelled before it began";
  return {
    kind: "cancelled",
    exitCode: null,
    signal: null,
    reason,
    started: false,
    startedAtMs: null,
    endedAtMs: claim.atMs,
    termAtMs: null,
    node: null,
    requeues: 0,
    coreSeconds: 0,
    bytes: null,
    witness: "claim",
    settled: true,
  };
}
