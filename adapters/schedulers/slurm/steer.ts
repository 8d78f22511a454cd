import type { SteerAction, SteerAnswer } from "../../../src/domain/adapter.ts";
import { callSlurm, failureOf } from "./ask-slurm.ts";
import { carriesMark, type SlurmJob } from "./places.ts";
import { queueOf } from "./queue.ts";
import type { SlurmRoom } from "./room.ts";

/**
 * `scontrol hold|release|suspend|resume`. Before 26.05 only operators may suspend and resume; a hold of an operator can
 * be released by one alone.
 */
export async function steerJob(
  room: SlurmRoom,
  job: SlurmJob | null,
  action: SteerAction,
  signal: AbortSignal,
): Promise<SteerAnswer> {
  const refused = (reason: string): SteerAnswer => ({ kind: "refused", reason });
  if (job === null) return refused("it is not a job of this target");
  const { id, mark } = job.ref;
  const { rows } = await queueOf(room, [id], signal);
  const row = rows.find((one) => one.id === id && carriesMark(room, one, mark));
  if (row === undefined) return refused("the queue does not know it any more");
  const isWaiting = row.state === "PENDING";
  if (action === "hold" && !isWaiting)
    return refused(`only a job that waits can be held, and this one is ${row.state}`);
  const result = await callSlurm(room, "scontrol", [action, id], { signal });
  signal.throwIfAborted();
  if (result.exitCode === 0) return { kind: "done" };
  const said = failureOf(result, room.config.queryTimeoutSeconds * 1000);
  const denied = /permission denied/i.test(result.stderr);
  const advice = denied ? "; this cluster leaves that to its operators" : "";
  return refused(`scontrol ${action} ${said}${advice}`);
}
