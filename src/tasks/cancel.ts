import type { Principal } from "../domain/principal.ts";
import { type ChangeDeps, changeTask } from "./change.ts";

/** Asks for a stop. Repeatable, and without effect on a task that has ended; the scheduler decides what becomes of it. */
export async function cancelTask(deps: ChangeDeps, caller: Principal, taskId: string): Promise<void> {
  await changeTask(deps, { caller, taskId }, (_, atMs) => [
    { kind: "cancel_requested", atMs, by: caller.name },
  ]);
}
