import type { JobRef, SubmitAnswer, SubmitRequest } from "../../../src/domain/adapter.ts";
import { asBridgeError } from "../shared/atomic-file.ts";
import { giveUpEarlier, listAttempts, whyNever } from "../shared/attempts.ts";
import { readClaim, takeClaim } from "../shared/claim.ts";
import { acceptAttempt, ensureBareDirectory, isJobDirectory } from "../shared/job-directory.ts";
import type { JobLayout } from "../shared/job-layout.ts";
import { layoutOf } from "../shared/mark.ts";
import type { Line } from "./line.ts";
import { type AttemptRecord, type LocalDeps, type LocalRoom, readAttempt, refOf } from "./room.ts";

export type Submission = {
  readonly room: LocalRoom;
  readonly line: Line;
  readonly request: SubmitRequest;
  readonly signal: AbortSignal;
  readonly deps: Pick<LocalDeps, "reached">;
};

/** Accepts the attempt unless the mark has a job already, and starts it when a slot is free. */
export async function submitJob(submission: Submission): Promise<SubmitAnswer> {
  const { room, request } = submission;
  const { mark, attempt, spec } = request;
  const layout = layoutOf(room, mark);
  const existing = await locateMark(room, mark);
  if (existing !== null) return lineUp(submission, layout, existing);
  const problem = whyNever(spec);
  if (problem !== null) return { kind: "rejected", reason: problem };
  const earlier = await giveUpEarlier(layout, attempt, room.now());
  if (earlier !== null) return lineUp(submission, layout, refOf(room, mark, earlier));
  if ((await readClaim(layout, attempt)) !== null)
    return { kind: "rejected", reason: `attempt ${attempt} was given up before it was submitted` };
  const record: AttemptRecord = {
    attempt,
    order: submission.line.nextOrder(),
    cpus: spec.resources.cpus,
    walltimeSeconds: spec.resources.walltimeSeconds,
  };
  const attemptText = `${JSON.stringify(record)}\n`;
  await acceptAttempt({ layout, spec, attempt, attemptText, signal: submission.signal });
  return lineUp(submission, layout, refOf(room, mark, attempt));
}

/** The attempt is accepted: whatever fails from here on, the job is there and will be found. */
async function lineUp(submission: Submission, layout: JobLayout, job: JobRef): Promise<SubmitAnswer> {
  const { room, line, deps } = submission;
  try {
    await deps.reached?.("accepted");
    const record = await readAttempt(layout, job.attempt);
    if (record !== null && (await readClaim(layout, job.attempt)) === null) await line.add(job.mark, record);
    await deps.reached?.("lined_up");
    await line.advance();
  } catch (error) {
    throw asBridgeError(error, {
      fault: "uncertain",
      target: room.target,
      doing: "starting an accepted job",
    });
  }
  return { kind: "submitted", job };
}

/** The mark's job: the newest attempt that was not given up. Null: there is none. */
export async function locateMark(room: LocalRoom, mark: string): Promise<JobRef | null> {
  const layout = layoutOf(room, mark);
  if (!(await isJobDirectory(layout))) return null;
  for (const attempt of await listAttempts(layout)) {
    const claim = await readClaim(layout, attempt);
    if (claim?.kind !== "seized") return refOf(room, mark, attempt);
  }
  return null;
}

/** The claim is taken even where no directory is yet: a submit that hangs somewhere finds it when it goes on. */
export async function seizeAttempt(
  room: LocalRoom,
  line: Line,
  { mark, attempt }: { mark: string; attempt: number },
): Promise<"seized" | "started"> {
  const layout = layoutOf(room, mark);
  await ensureBareDirectory(layout);
  const isOurs = await takeClaim(layout, attempt, { kind: "seized", atMs: room.now() });
  if (!isOurs && (await readClaim(layout, attempt))?.kind !== "seized") return "started";
  const record = await readAttempt(layout, attempt);
  if (record !== null) await line.remove(mark, record);
  return "seized";
}
