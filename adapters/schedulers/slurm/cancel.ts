import type { JobRef } from "../../../src/domain/adapter.ts";
import { BridgeError } from "../../../src/domain/errors.ts";
import { NO_ROOM, unlessCode } from "../shared/atomic-file.ts";
import { readClaim, takeClaim } from "../shared/claim.ts";
import { exists, isJobDirectory } from "../shared/job-directory.ts";
import { inParallel } from "../shared/until-aborted.ts";
import { callSlurm, failureOf } from "./ask-slurm.ts";
import { observeJobs, type Watch } from "./observe.ts";
import { findJob, type SlurmJob } from "./places.ts";
import type { SlurmRoom } from "./room.ts";

export type StopAnswer = "asked" | "already_ended" | "not_found";

const WIDTH = 16;
/** A stop that Slurm has accepted is not asked for again before this, in ms. */
const AGAIN_MS = 20_000;
/** Slurm brings KILL after KillWait (30 s by default). A job that lives on longer gets it from us too. */
const ESCALATE_MS = 90_000;
/** A look this fresh need not be repeated for a cancel. */
const FRESH_MS = 10_000;

/** When each batch job was first and last asked to stop. */
export type Stops = Map<string, { readonly firstMs: number; readonly lastMs: number }>;

/** What can be answered without asking Slurm, or null. */
export function knownAnswer(room: SlurmRoom, watch: Watch, stops: Stops, ref: JobRef): StopAnswer | null {
  const seen = watch.seen.get(ref.id);
  const stop = stops.get(ref.id);
  const now = room.now();
  if (seen?.kind === "ended" && now - seen.atMs < FRESH_MS) return "already_ended";
  return stop !== undefined && now - stop.lastMs < AGAIN_MS ? "asked" : null;
}

/**
 * Asks Slurm to stop these jobs, after a look that makes sure that they are ours. A job that waits loses its claim first,
 * so that it cannot start even when scancel is not heard. scancel says nothing of a job that is over or unknown: only a
 * look tells what came of it.
 */
export async function stopJobs(
  room: SlurmRoom,
  { watch, stops }: { readonly watch: Watch; readonly stops: Stops },
  refs: readonly JobRef[],
  signal: AbortSignal,
): Promise<StopAnswer[]> {
  const seen = await observeJobs(room, watch, refs, signal);
  const asked: { readonly ref: JobRef; readonly id: string }[] = [];
  const answers = await inParallel(refs, WIDTH, async (ref): Promise<StopAnswer> => {
    const job = findJob(room, ref);
    const look = seen.get(ref.id);
    if (job === null || look === undefined) return "not_found";
    if (look.kind === "ended") return "already_ended";
    // One directory that bars us must not keep the others' jobs from being stopped.
    if (look.kind === "unknown")
      return look.gone ? unlessBarred("not_found", () => withdraw(room, job)) : "not_found";
    if (look.kind === "queued" || look.kind === "held")
      await unlessBarred(undefined, () => withdrawWaiting(room, job));
    asked.push({ ref, id: watch.holders.get(`${ref.mark}.${ref.attempt}.${ref.id}`) ?? ref.id });
    return "asked";
  });
  await send(room, stops, asked, signal);
  return answers;
}

function unlessBarred<T, U>(otherwise: U, work: () => Promise<T>): Promise<T | U> {
  return unlessCode(["EACCES", "EPERM", ...NO_ROOM], otherwise, work);
}

/** Slurm does not know it: it may be a job whose submit is still on its way. */
async function withdraw(room: SlurmRoom, job: SlurmJob): Promise<StopAnswer> {
  if (!(await isJobDirectory(job.layout))) return "not_found";
  if (!(await exists(job.layout.attempt(job.ref.attempt)))) return "not_found";
  const isOurs = await takeClaim(job.layout, job.ref.attempt, { kind: "cancelled", atMs: room.now() });
  return isOurs ? "asked" : "not_found";
}

async function withdrawWaiting(room: SlurmRoom, { layout, ref }: SlurmJob): Promise<void> {
  // A job that waits for another life holds its claim already.
  if ((await readClaim(layout, ref.attempt)) !== null) return;
  await takeClaim(layout, ref.attempt, { kind: "cancelled", atMs: room.now() });
}

async function send(
  room: SlurmRoom,
  stops: Stops,
  asked: readonly { readonly ref: JobRef; readonly id: string }[],
  signal: AbortSignal,
): Promise<void> {
  const now = room.now();
  for (const [id, { lastMs }] of stops) if (now - lastMs > 86_400_000) stops.delete(id);
  const isStubborn = (id: string) => now - (stops.get(id)?.firstMs ?? now) > ESCALATE_MS;
  const stubborn = asked.filter(({ ref }) => isStubborn(ref.id));
  const others = asked.filter(({ ref }) => !isStubborn(ref.id));
  for (const [flags, group] of [
    [[], others],
    [["--signal=KILL", "--full"], stubborn],
  ] as const) {
    if (group.length === 0) continue;
    const ids = [...new Set(group.map(({ id }) => id))];
    const result = await callSlurm(room, "scancel", [...flags, ...ids], { signal });
    signal.throwIfAborted();
    if (result.exitCode !== 0)
      throw new BridgeError(
        "uncertain",
        room.target,
        `cancelling ${ids.length} jobs on target ${room.target}: scancel ${failureOf(result, room.config.queryTimeoutSeconds * 1000)}`,
      );
    for (const { ref } of group)
      stops.set(ref.id, { firstMs: stops.get(ref.id)?.firstMs ?? now, lastMs: now });
  }
}
