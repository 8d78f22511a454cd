import { advance } from "../src/domain/advance.ts";
import { dueExtension } from "../src/domain/deadlines.ts";
import { parseDutyMember } from "../src/domain/duties.ts";
import type { WorkerDeps } from "./deps.ts";

const BATCH = 500;

/**
 * One tick: puts overdue duties back into their queues, keeps waiting tasks from expiring, purges what is over. Nothing
 * here is needed while all goes well; it is what makes the queues expendable.
 */
export async function keepUp(deps: WorkerDeps, stop: AbortSignal): Promise<void> {
  await hastenOverdue(deps, stop);
  await purgeExpired(deps, stop);
}

async function hastenOverdue(deps: WorkerDeps, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const options = { limit: BATCH, againInMs: deps.tuning.dutyMs };
    const members = await deps.store.takeDue(deps.target, "work", options);
    for (const member of members) deps.hasten(deps.target, member);
    await extendWaiting(deps, members);
    if (members.length < BATCH) return;
  }
}

/** Watch extends tasks that have a job; a task that still waits to be submitted is extended here. */
async function extendWaiting(deps: WorkerDeps, members: readonly string[]): Promise<void> {
  const waiting = members.flatMap((member) => {
    const duty = parseDutyMember(member);
    return duty?.duty.kind === "submit" ? [duty.taskId] : [];
  });
  if (waiting.length === 0) return;
  const atMs = await deps.store.now();
  for (const record of (await deps.store.readMany(waiting)).values()) {
    const expiresAtMs = dueExtension(record, atMs);
    if (expiresAtMs !== null) await advance(deps, record, { kind: "ttl_extended", expiresAtMs, atMs });
  }
}

async function purgeExpired(deps: WorkerDeps, stop: AbortSignal): Promise<void> {
  for (const taskId of await deps.store.expired(BATCH)) {
    if (stop.aborted) return;
    await deps.store.purge(taskId);
  }
}
