import { commitStep, type Hasten } from "../domain/advance.ts";
import { TailraceError } from "../domain/errors.ts";
import type { EventDraft } from "../domain/event.ts";
import type { Fact } from "../domain/fact.ts";
import { apply } from "../domain/lifecycle.ts";
import type { Principal } from "../domain/principal.ts";
import type { Step } from "../domain/step.ts";
import type { TaskStore } from "../domain/store.ts";
import type { TaskRecord } from "../domain/task.ts";
import { readOwned } from "./owned.ts";

export type ChangeDeps = { readonly store: TaskStore; readonly hasten: Hasten };

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
    const step = applyAll(before, factsFor(before, await store.now()));
    if ((await commitStep(deps, before, step)) !== null) return;
  }
  const advice = "The task is changing too fast just now; send the request again.";
  throw new TailraceError("store_unavailable", "a compare-and-set lost too often", { data: { advice } });
}

function applyAll(before: TaskRecord, facts: readonly Fact[]): Step {
  let record = before;
  const events: EventDraft[] = [];
  for (const fact of facts) {
    const step = apply(record, fact);
    record = step.record;
    events.push(...step.events);
  }
  return { record, events };
}
