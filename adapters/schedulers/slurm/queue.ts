import { BridgeError } from "../../../src/domain/errors.ts";
import { answerOf } from "./ask-slurm.ts";
import { queueArguments, queueByNameArguments } from "./commands.ts";
import { parseQueue, type QueueRow } from "./queue-rows.ts";
import type { SlurmRoom } from "./room.ts";

export type QueueAnswer = {
  readonly rows: readonly QueueRow[];
  /** False: a part of the answer could not be read, so that what is missing from `rows` may be there all the same. */
  readonly whole: boolean;
};

/** One look at the queue, whatever the number of jobs. Throws BridgeError when the controller did not answer. */
export async function queueOf(
  room: SlurmRoom,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<QueueAnswer> {
  const begunMs = room.now();
  try {
    const stdout = await answerOf(room, "squeue", queueArguments(ids, room.users.names), { signal });
    room.pace.answered(room.now() - begunMs);
    return readQueue(stdout);
  } catch (error) {
    if (error instanceof BridgeError) room.pace.failed();
    throw error;
  }
}

export async function queueByName(
  room: SlurmRoom,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly QueueRow[]> {
  const stdout = await answerOf(room, "squeue", queueByNameArguments(names, room.users.names), { signal });
  const { rows, whole } = readQueue(stdout);
  if (!whole)
    throw new BridgeError(
      "unreadable",
      room.target,
      `target ${room.target}: a part of what squeue answered cannot be read`,
    );
  return rows;
}

/**
 * A job's line begins with its id. A front's banner among the jobs does no harm; a line that was a job's, an answer
 * without an end, or one that is something else altogether leave open what is there.
 */
function readQueue(stdout: string): QueueAnswer {
  const { rows, problems } = parseQueue(stdout);
  const numbered = stdout.split("\n").filter((line) => /^\s*\d/.test(line)).length;
  const isSomething = rows.length > 0 || problems.length === 0;
  const isFinished = stdout === "" || stdout.endsWith("\n");
  return { rows, whole: numbered === rows.length && isSomething && isFinished };
}
