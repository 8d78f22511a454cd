import { readFile } from "node:fs/promises";
import { NO_ROOM, unlessCode, writeOnce } from "../shared/atomic-file.ts";
import { readClaim, takeClaim } from "../shared/claim.ts";
import { readExit, readNewestLife } from "../shared/exit-record.ts";
import { exists, isJobDirectory } from "../shared/job-directory.ts";
import type { Line } from "./line.ts";
import {
  findCarriers,
  type ProcessId,
  parseIdentity,
  processState,
  signalGroup,
  signalProcess,
} from "./processes.ts";
import { type LocalJob, type LocalRoom, readAttempt } from "./room.ts";

type StopAnswer = "asked" | "already_ended" | "not_found";

/**
 * A waiting job loses its claim and never starts. A running one gets TERM through its wrapper, which notes the time and
 * brings KILL itself after the grace; asked again after the grace, everything that belongs to the job is killed here.
 * The wrapper is left alive to write the exit record.
 */
export async function stopJob(room: LocalRoom, job: LocalJob, line: Line): Promise<StopAnswer> {
  const { layout, ref } = job;
  if (!(await isJobDirectory(layout))) return "not_found";
  const attempt = await readAttempt(layout, ref.attempt);
  const held = await readClaim(layout, ref.attempt);
  if (held === null) {
    if (attempt === null) return "not_found";
    if (await takeClaim(layout, ref.attempt, { kind: "cancelled", atMs: room.now() })) {
      await line.remove(ref.mark, attempt);
      return "asked";
    }
  }
  const claim = held ?? (await readClaim(layout, ref.attempt));
  const identity = claim?.kind === "job" ? parseIdentity(claim.identity) : null;
  if (claim?.kind !== "job" || identity === null || identity.boot !== room.bootId) return "already_ended";
  if (await exists(layout.end(ref.attempt))) return "already_ended";
  const life = await readNewestLife(layout, claim.identity);
  if (life !== null && (await readExit(layout, life)) !== null) return "already_ended";
  return stopRunning(room, job, { wrapper: identity, script: life?.script ?? null });
}

type Running = { readonly wrapper: ProcessId; readonly script: ProcessId | null };

async function stopRunning(room: LocalRoom, job: LocalJob, running: Running): Promise<StopAnswer> {
  const { wrapper, script } = running;
  const askedAtMs = await readAskedAt(job);
  const isRepeat = askedAtMs !== null && room.now() - askedAtMs < room.graceSeconds * 1000;
  if (isRepeat) return "asked";
  const signal = askedAtMs === null ? "SIGTERM" : "SIGKILL";
  const wrapperLives = (await processState(wrapper)) !== null;
  if (signal === "SIGTERM" && wrapperLives) {
    await signalProcess(wrapper, "SIGTERM");
    // A stopped process takes no signal before it goes on.
    await signalProcess(wrapper, "SIGCONT");
  } else if (!(await signalJob(job, script, signal)) && !wrapperLives) return "already_ended";
  else if (wrapperLives) await signalProcess(wrapper, "SIGCONT");
  // Written after the signal: a crash between the two costs a second TERM, not a missing first one.
  const text = `${Math.round(room.now())}\n`;
  if (askedAtMs === null) await unlessCode(NO_ROOM, false, () => writeOnce(job.layout.cancel, text));
  return "asked";
}

/** Reaches the script's group and whatever left it. False: nothing was there. */
async function signalJob(job: LocalJob, script: ProcessId | null, signal: NodeJS.Signals): Promise<boolean> {
  let reached = script !== null && (await signalGroup(script, signal));
  const carriers = (await findCarriers([job.layout.root])).get(job.layout.root);
  for (const one of carriers?.job ?? []) {
    const wasReached = await signalProcess(one, signal);
    if (signal === "SIGTERM") await signalProcess(one, "SIGCONT");
    reached = wasReached || reached;
  }
  return reached;
}

async function readAskedAt(job: LocalJob): Promise<number | null> {
  const text = await unlessCode(["ENOENT"], null, () => readFile(job.layout.cancel, "utf8"));
  return text === null ? null : Number(text);
}
