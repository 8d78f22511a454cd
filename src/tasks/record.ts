import type { TaskRecord } from "../domain/task.ts";

type Identity = Pick<
  TaskRecord,
  "id" | "owner" | "tool" | "target" | "mark" | "createdAtMs" | "keepMs" | "walltimeSeconds" | "expiresAtMs"
>;

/** A record as it is when a task is accepted: nothing has happened yet. */
export function newRecord(identity: Identity): TaskRecord {
  return {
    ...identity,
    updatedAtMs: identity.createdAtMs,
    phase: "accepted",
    phaseRev: 0,
    attempt: 0,
    leaseUntilMs: null,
    job: null,
    life: 0,
    reason: null,
    nodes: [],
    queuedAtMs: null,
    startedAtMs: null,
    endedAtMs: null,
    cancel: null,
    inputs: [],
    end: null,
    collectingAtMs: null,
    sighting: null,
    unseen: null,
    outcome: null,
    result: null,
  };
}
