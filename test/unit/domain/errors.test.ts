import { expect, test } from "vitest";
import { BRIDGE_FAULTS, BridgeError, ERRORS, TailraceError } from "../../../src/domain/errors.ts";
import { LIFECYCLE_EVENTS } from "../../../src/domain/event.ts";

test("the error codes and what may be tried again are those that were released", () => {
  const table = Object.entries(ERRORS).map(([code, row]) => [code, row.retryable]);
  expect(table).toEqual([
    ["unknown_tool", false],
    ["invalid_arguments", false],
    ["key_conflict", false],
    ["key_expired", false],
    ["key_missing", false],
    ["unknown_task", false],
    ["invalid_cursor", false],
    ["events_gone", false],
    ["unknown_resource", false],
    ["tasks_required", false],
    ["limit_reached", true],
    ["target_unavailable", true],
    ["store_unavailable", true],
    ["store_full", true],
    ["store_mismatch", false],
  ]);
});

test("the faults on the way to a scheduler say whether the request may have been applied", () => {
  expect(BRIDGE_FAULTS).toEqual({
    unreachable: { mayHaveHappened: false },
    uncertain: { mayHaveHappened: true },
    unreadable: { mayHaveHappened: true },
  });
});

test("the lifecycle events are those that were released", () => {
  expect(LIFECYCLE_EVENTS).toEqual([
    "task.accepted",
    "task.status",
    "job.submitted",
    "job.queued",
    "job.held",
    "job.started",
    "job.requeued",
    "job.suspended",
    "job.resumed",
    "input.requested",
    "input.answered",
    "cancel.requested",
    "job.ended",
    "artifact.created",
    "task.ended",
  ]);
});

test("an error carries its code, its data and its cause", () => {
  const cause = new Error("below");
  const error = new TailraceError("store_full", "no room", { data: { used: 1 }, cause });
  expect(error).toMatchObject({
    name: "TailraceError",
    code: "store_full",
    retryable: true,
    data: { used: 1 },
    cause,
  });
  expect(new TailraceError("unknown_task", "none")).toMatchObject({ retryable: false, data: {} });
  expect("cause" in new TailraceError("unknown_task", "none")).toBe(false);
  const fault = new BridgeError("uncertain", "cluster", "no reply", { cause });
  expect(fault).toMatchObject({ name: "BridgeError", target: "cluster", mayHaveHappened: true, cause });
});
