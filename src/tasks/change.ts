import { dutyChange } from "../domain/duties.ts";
import { TailraceError } from "../domain/errors.ts";
import type { EventDraft } from "../domain/event.ts";
import type { Fact } from "../domain/fact.ts";
import { apply } from "../domain/lifecycle.ts";
import type { Principal } from "../domain/principal.ts";
import type { TaskStore } from "../domain/store.ts";
import type { TaskRecord } from "../domain/task.ts";
import { type HastenDeps, hastenAll } from "./hasten.ts";
import { readOwned, unknownTask } from "./owned.ts";

export type ChangeDeps = HastenDeps & { readonly store: TaskStore };

/** Writers of one task are few; a change that loses this often meets a fault, not a rival. */
const MAX_TRIES = 20;

/**
 * Brings facts to the caller's task: read, apply, compare-and-set, again when another writer was faster. Facts that
 * change nothing write nothing.
 */
export async function changeTask(
  deps: ChangeDeps,
  target: { readonly caller: Principal; readonly taskId: string },
  factsFor: (record: TaskRecord, atMs: number) => readonly Fact[],
): Promise<void> {
  const { store } = deps;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { record: before } = await readOwned(store, target.caller, target.taskId);
    const { after, events } = applyAll(before, factsFor(before, await store.now()));
    if (after === before) return;
    const written = await store.commit({ before, after, events });
    if (written === "gone") throw unknownTask();
    if (written === "committed") {
      hastenAll(deps, after, dutyChange(before, after).add);
      return;
    }
  }
  const advice = "The task is changing too fast just now; send the request again.";
  throw new TailraceError("store_unavailable", "a compare-and-set lost too often", { data: { advice } });
}

function applyAll(before: TaskRecord, facts: readonly Fact[]): { after: TaskRecord; events: EventDraft[] } {
  let after = before;
  const events: EventDraft[] = [];
  for (const fact of facts) {
    const step = apply(after, fact);
    after = step.record;
    events.push(...step.events);
  }
  return { after, events };
}
