import { setTimeout as delay } from "node:timers/promises";
import { JobEnd, type Observation } from "../../../src/domain/adapter.ts";
import { NO_ROOM, unlessCode, writeOnce } from "../shared/atomic-file.ts";
import { type Claim, readClaim } from "../shared/claim.ts";
import { endOfExit, type LifeRecord, readExit, readNewestLife } from "../shared/exit-record.ts";
import { exists, isJobDirectory } from "../shared/job-directory.ts";
import { readSmall } from "../shared/read-small.ts";
import type { Line } from "./line.ts";
import {
  type Carriers,
  findCarriers,
  isStopped,
  type ProcessId,
  parseIdentity,
  processState,
  signalProcess,
} from "./processes.ts";
import { type AttemptRecord, type LocalJob, type LocalRoom, readAttempt } from "./room.ts";

const KILL_LOOKS = 20;
const KILL_LOOK_MS = 50;

/** What the job's directory and /proc say. Nothing here is a guess: what they do not tell is `unknown`. */
export async function observeJob(room: LocalRoom, job: LocalJob, line: Line): Promise<Observation> {
  const { layout, ref } = job;
  if (!(await isJobDirectory(layout))) return unknown(`there is no directory ${layout.root}`, true);
  const attempt = await readAttempt(layout, ref.attempt);
  const claim = await readClaim(layout, ref.attempt);
  if (claim !== null) return observeClaimed(room, job, { claim, attempt });
  if (attempt === null)
    return unknown(
      `${layout.root} holds no record of this attempt: its files were deleted, or it was never accepted`,
      true,
    );
  // Its entry may be missing when a submit was killed between acceptance and line.
  await line.add(ref.mark, attempt);
  return { kind: "queued", requeues: 0, reason: waitReason(room, line, `${ref.mark}.${ref.attempt}`) };
}

function unknown(why: string, gone: boolean): Observation {
  return { kind: "unknown", why, gone };
}

function waitReason(room: LocalRoom, line: Line, key: string): string | null {
  const problem = line.state.problems.get(key);
  if (problem !== undefined) return problem;
  if (!line.state.isFull) return null;
  return `waiting for a free slot: ${room.maxConcurrent} of ${room.maxConcurrent} in use`;
}

type Claimed = { readonly claim: Claim; readonly attempt: AttemptRecord | null };

async function observeClaimed(room: LocalRoom, job: LocalJob, known: Claimed): Promise<Observation> {
  const { claim } = known;
  if (claim.kind !== "job") return { kind: "ended", end: withdrawn(claim) };
  const settled = await readEnd(job);
  if (settled !== null) return { kind: "ended", end: settled };
  const identity = parseIdentity(claim.identity);
  if (identity === null)
    return unknown(`the claim is held by ${JSON.stringify(claim.identity.slice(0, 80))}`, false);
  // Looked at before the exit record: a wrapper that was alive may write it meanwhile, one that was gone no longer.
  const wrapper = identity.boot === room.bootId ? await processState(identity) : null;
  const life = await readNewestLife(job.layout, claim.identity);
  const exit = life === null ? null : await readExit(job.layout, life);
  if (exit !== null) {
    if (!(await killLeftovers(job))) return running(room, life, "its last processes are being ended");
    return { kind: "ended", end: endOfExit(exit, known.attempt?.cpus ?? 1) };
  }
  if (wrapper !== null) return observeAlive(room, identity, life);
  if (life !== null && life.host !== room.hostname && life.host !== "unknown")
    return unknown(`it was started on ${life.host}, and this is ${room.hostname}`, false);
  return observeOrphan(room, job, {
    life,
    sameBoot: identity.boot === room.bootId,
    cpus: known.attempt?.cpus ?? 1,
  });
}

async function observeAlive(
  room: LocalRoom,
  wrapper: ProcessId,
  life: LifeRecord | null,
): Promise<Observation> {
  const script = life?.script ?? null;
  const stands = (await isStopped(wrapper)) || (script !== null && (await isStopped(script)));
  if (stands) return { kind: "suspended", reason: "stopped by a signal" };
  return running(room, life, null);
}

function running(room: LocalRoom, life: LifeRecord | null, reason: string | null): Observation {
  return {
    kind: "running",
    nodes: [room.hostname],
    sinceMs: life?.startedAtMs ?? null,
    requeues: life?.requeues ?? 0,
    reason,
  };
}

type Orphan = { readonly life: LifeRecord | null; readonly sameBoot: boolean; readonly cpus: number };

/** The wrapper is gone without an exit record. The job lives on while any of its processes does. */
async function observeOrphan(room: LocalRoom, job: LocalJob, orphan: Orphan): Promise<Observation> {
  const { life, sameBoot } = orphan;
  if (sameBoot) {
    const script = life?.script ?? null;
    const isAlive = script !== null && (await processState(script)) !== null;
    const carriers = await carriersOf(job.layout.root);
    if (isAlive || carriers.job.length > 0)
      return running(room, life, "its wrapper is gone; how it ends will not be known");
    for (const timer of carriers.timers) await signalProcess(timer, "SIGKILL");
  }
  const asked = await exists(job.layout.cancel);
  const kind = !sameBoot ? "node_fail" : asked ? "cancelled" : "vanished";
  const reason = {
    node_fail: "the machine was restarted while it ran",
    cancelled: "its processes were ended on request",
    vanished: "its processes are gone and left no exit record",
  }[kind];
  const end = endWithoutRecord({ kind, reason, witness: "process", started: life !== null });
  // Kept: another boot, or another look, must not tell another story.
  const told: JobEnd = {
    ...end,
    startedAtMs: life?.startedAtMs ?? null,
    node: life?.host ?? room.hostname,
    requeues: life?.requeues ?? 0,
  };
  const text = `${JSON.stringify(told)}\n`;
  await unlessCode(NO_ROOM, false, () => writeOnce(job.layout.end(job.ref.attempt), text));
  return { kind: "ended", end: (await readEnd(job)) ?? told };
}

async function carriersOf(directory: string): Promise<Carriers> {
  return (await findCarriers([directory])).get(directory) ?? { job: [], timers: [] };
}

/** Ends what outlived the wrapper. False: something is still there. */
async function killLeftovers(job: LocalJob): Promise<boolean> {
  if (await exists(job.layout.swept)) return true;
  for (let look = 0; look < KILL_LOOKS; look++) {
    const { job: left, timers } = await carriersOf(job.layout.root);
    if (left.length + timers.length === 0) {
      await unlessCode(NO_ROOM, false, () => writeOnce(job.layout.swept, ""));
      return true;
    }
    for (const one of [...left, ...timers]) await signalProcess(one, "SIGKILL");
    await delay(KILL_LOOK_MS);
  }
  return false;
}

async function readEnd(job: LocalJob): Promise<JobEnd | null> {
  const text = await readSmall(job.layout, job.layout.end(job.ref.attempt));
  return text === null ? null : JobEnd.parse(JSON.parse(text));
}

/** The attempt's claim was taken by us, so it never ran. */
function withdrawn(claim: Extract<Claim, { atMs: number }>): JobEnd {
  const reason =
    claim.kind === "seized" ? "this attempt was given up before it began" : "cancelled before it began";
  const end = endWithoutRecord({ kind: "cancelled", reason, witness: "claim", started: false });
  return { ...end, endedAtMs: claim.atMs, coreSeconds: 0 };
}

function endWithoutRecord(told: Pick<JobEnd, "kind" | "reason" | "witness" | "started">): JobEnd {
  return {
    ...told,
    exitCode: null,
    signal: null,
    startedAtMs: null,
    endedAtMs: null,
    termAtMs: null,
    node: null,
    requeues: 0,
    coreSeconds: null,
    bytes: null,
    settled: true,
  };
}
