import { dutyChange } from "./duties.ts";
import type { Fact } from "./fact.ts";
import { apply } from "./lifecycle.ts";
import type { Step } from "./step.ts";
import type { TaskStore } from "./store.ts";
import type { TaskRecord } from "./task.ts";

/** Tells a queue that a duty has come up. Only hastens: the due-set is the truth. Must not throw. */
export type Hasten = (target: string, member: string) => void;

type Deps = { readonly store: TaskStore; readonly hasten: Hasten };

/**
 * Commits one fact on a record that was read before, with its events and duties, and hastens the new duties. Answers
 * the new record; the same record when the fact changes nothing; null when the store has moved on meanwhile.
 */
export async function advance(deps: Deps, record: TaskRecord, fact: Fact): Promise<TaskRecord | null> {
  return commitStep(deps, record, apply(record, fact));
}

/** As `advance`, for a step that the caller made. `epoch` fences a follower. */
export async function commitStep(
  deps: Deps,
  before: TaskRecord,
  step: Step & { readonly epoch?: number },
): Promise<TaskRecord | null> {
  if (step.record === before && step.events.length === 0) return before;
  const fence = step.epoch === undefined ? {} : { epoch: step.epoch };
  const answer = await deps.store.commit({ before, after: step.record, events: step.events, ...fence });
  if (answer !== "committed") return null;
  for (const member of dutyChange(before, step.record).add) deps.hasten(before.target, member);
  return step.record;
}

/**
 * Commits a fact that holds whatever else happened meanwhile: reads, decides, commits, and starts again when another
 * writer came first. `decide` answers null when there is nothing to say any more. Null: the task is gone.
 */
export async function insist(
  deps: Deps,
  taskId: string,
  decide: (record: TaskRecord) => Fact | null,
): Promise<TaskRecord | null> {
  for (;;) {
    const stored = await deps.store.read(taskId);
    if (stored === null) return null;
    const fact = decide(stored.record);
    if (fact === null) return stored.record;
    const after = await advance(deps, stored.record, fact);
    if (after !== null) return after;
  }
}
