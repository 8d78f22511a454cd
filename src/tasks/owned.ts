import { TailraceError } from "../domain/errors.ts";
import type { Principal } from "../domain/principal.ts";
import type { Glance, StoredTask, TaskStore } from "../domain/store.ts";
import { isTaskId } from "./identity.ts";

/** One message for unknown, expired and somebody else's: the answer must not tell which it was. */
export function unknownTask(): TailraceError {
  return new TailraceError("unknown_task", "There is no such task.");
}

/** Throws `unknown_task` unless the task exists and is the caller's. */
export async function readOwned(
  store: Pick<TaskStore, "read">,
  caller: Principal,
  taskId: string,
): Promise<StoredTask> {
  const stored = isTaskId(taskId) ? await store.read(taskId) : null;
  if (stored === null || stored.record.owner !== caller.id) throw unknownTask();
  return stored;
}

/** The hot path of tasks/get: one read, nothing parsed. */
export async function glanceOwned(store: TaskStore, caller: Principal, taskId: string): Promise<Glance> {
  const glance = isTaskId(taskId) ? await store.glance(taskId) : null;
  if (glance === null || glance.owner !== caller.id) throw unknownTask();
  return glance;
}
