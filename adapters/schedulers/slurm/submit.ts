import { rm } from "node:fs/promises";
import type { JobRef, SubmitAnswer, SubmitRequest } from "../../../src/domain/adapter.ts";
import { BridgeError, type BridgeFault } from "../../../src/domain/errors.ts";
import { type AttemptRecord, giveUpEarlier, listAttempts, whyNever } from "../shared/attempts.ts";
import { readClaim, takeClaim } from "../shared/claim.ts";
import { acceptAttempt, ensureBareDirectory } from "../shared/job-directory.ts";
import type { JobLayout } from "../shared/job-layout.ts";
import { layoutOf } from "../shared/mark.ts";
import { callSlurm } from "./ask-slurm.ts";
import { batchScript, idOfIdentity } from "./batch-script.ts";
import { submitArguments } from "./commands.ts";
import { handOver } from "./hand-over.ts";
import { locateMarks } from "./locate.ts";
import { readOptions, type SlurmOptions } from "./options.ts";
import type { SlurmRoom } from "./room.ts";
import { readSubmit } from "./submit-answer.ts";
import type { Account } from "./users.ts";

/**
 * Brings the mark's job to Slurm unless it has one. The directory and the attempt's record are there before sbatch is
 * called; whatever becomes of the answer, the job is found by its mark, and its script runs only under its claim.
 */
export async function submitJob(
  room: SlurmRoom,
  request: SubmitRequest,
  signal: AbortSignal,
): Promise<SubmitAnswer> {
  const { mark, attempt, spec } = request;
  const layout = layoutOf(room, mark);
  const existing = (await locateMarks(room, [mark], signal)).get(mark) ?? null;
  if (existing !== null) return { kind: "submitted", job: existing };
  const read = readOptions(spec);
  const problem = whyNever(spec) ?? read.problem;
  if (problem !== null || read.options === null)
    return { kind: "rejected", reason: problem ?? "its options cannot be read" };
  const account = await room.users.accountFor(spec, signal);
  if (typeof account === "string") return { kind: "rejected", reason: account };
  const earlier = await giveUpEarlier(layout, attempt, room.now());
  if (earlier !== null)
    return { kind: "submitted", job: await holderOf(room, layout, { mark, attempt: earlier }) };
  if ((await readClaim(layout, attempt)) !== null)
    return { kind: "rejected", reason: `attempt ${attempt} was given up before it was submitted` };
  // How many controllers there are decides what a refused connection means; a cluster that is away is noticed here.
  await room.facts.get(room, signal);
  const cpus = spec.resources.cpus * read.options.tasks;
  const record: AttemptRecord = { attempt, cpus, walltimeSeconds: spec.resources.walltimeSeconds };
  await acceptAttempt({ layout, spec, attempt, attemptText: `${JSON.stringify(record)}\n`, signal });
  await handOver(room, layout, account, signal);
  return send(room, { request, layout, account, options: read.options }, signal);
}

/** The job that took that attempt's claim while we wanted it. */
async function holderOf(
  room: SlurmRoom,
  layout: JobLayout,
  { mark, attempt }: { mark: string; attempt: number },
): Promise<JobRef> {
  const claim = await readClaim(layout, attempt);
  const id = claim?.kind === "job" ? idOfIdentity(claim.identity) : null;
  if (id !== null) return { id, mark, attempt };
  throw new BridgeError(
    "uncertain",
    room.target,
    `target ${room.target}: attempt ${attempt} of this job is claimed, and not by a job of Slurm`,
  );
}

type Sending = {
  readonly request: SubmitRequest;
  readonly layout: JobLayout;
  readonly account: Account;
  readonly options: SlurmOptions;
};

async function send(room: SlurmRoom, sending: Sending, signal: AbortSignal): Promise<SubmitAnswer> {
  const { request, layout, account, options } = sending;
  const { mark, attempt, spec } = request;
  const timeoutMs = room.config.submitTimeoutSeconds * 1000;
  signal.throwIfAborted();
  const result = await callSlurm(room, "sbatch", submitArguments({ spec, options, mark, attempt, layout }), {
    signal,
    timeoutMs,
    stdin: batchScript(layout, attempt, options),
    as: account,
  });
  const reading = readSubmit(result, room.facts.known?.controllers ?? null);
  const fault = (kind: BridgeFault, why: string) =>
    new BridgeError(kind, room.target, `submitting a job on target ${room.target}: ${why}`);
  switch (reading.kind) {
    case "accepted":
      return { kind: "submitted", job: { id: reading.id, mark, attempt } };
    case "rejected":
      await clearAway(room, layout, attempt);
      return { kind: "rejected", reason: reading.reason };
    case "busy":
      throw fault("unreachable", reading.why);
    case "unreachable":
    case "uncertain":
      throw fault(reading.kind, reading.why);
    default:
      return reading satisfies never;
  }
}

/** A first attempt that was refused leaves nothing. Its claim is taken before, should anybody have submitted it too. */
async function clearAway(room: SlurmRoom, layout: JobLayout, attempt: number): Promise<void> {
  const others = (await listAttempts(layout)).filter((one) => one !== attempt);
  if (attempt !== 1 || others.length > 0) return;
  if (await takeClaim(layout, attempt, { kind: "seized", atMs: room.now() }))
    await rm(layout.root, { recursive: true, force: true });
}

/** The claim is taken even where no directory is yet: a submit that hangs somewhere finds it when it goes on. */
export async function seizeAttempt(
  room: SlurmRoom,
  { mark, attempt }: { readonly mark: string; readonly attempt: number },
): Promise<"seized" | "started"> {
  const layout = layoutOf(room, mark);
  await ensureBareDirectory(layout);
  const isOurs = await takeClaim(layout, attempt, { kind: "seized", atMs: room.now() });
  return isOurs || (await readClaim(layout, attempt))?.kind === "seized" ? "seized" : "started";
}
