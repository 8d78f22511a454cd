import { expect, test } from "vitest";
import type { JobEnd } from "../../../src/domain/adapter.ts";
import { cancelInTime, stoppedByUs } from "../../../src/domain/fact.ts";
import { NO_FINDINGS } from "../../../src/domain/findings.ts";
import { concludeOutcome } from "../../../src/domain/outcome.ts";
import {
  cancel,
  freshRecord,
  jobEnd,
  sawEnd,
  sawRequeued,
  sawRunning,
  submitted,
  tell,
} from "../../support/records.ts";

const term = { termAtMs: 123 };
const notStarted = { started: false, exitCode: null } as const;

test.each<[string, Partial<JobEnd>, kind: string, withoutCancel: string]>([
  ["the scheduler says cancelled", { kind: "cancelled" }, "cancelled", "failed"],
  [
    "the scheduler says cancelled, exit 0",
    { kind: "cancelled", exitCode: 0, ...term },
    "cancelled",
    "failed",
  ],
  ["a TERM came, then exit 0", { exitCode: 0, ...term }, "cancelled", "succeeded"],
  ["a TERM came, then exit 143", { exitCode: 143, ...term }, "cancelled", "failed"],
  [
    "a TERM came, then KILL",
    { kind: "signalled", exitCode: null, signal: 9, ...term },
    "cancelled",
    "failed",
  ],
  ["the walltime was over, exit 0", { kind: "timeout", exitCode: 0, ...term }, "timeout", "timeout"],
  [
    "the memory was over",
    { kind: "out_of_memory", exitCode: null, ...term },
    "out_of_memory",
    "out_of_memory",
  ],
  ["it ended by itself, exit 0", { exitCode: 0 }, "succeeded", "succeeded"],
  ["it ended by itself, exit 2", { exitCode: 2 }, "failed", "failed"],
  ["its node went down", { kind: "node_fail", exitCode: null }, "node_fail", "node_fail"],
  ["it never started: cancelled", { kind: "cancelled", ...notStarted }, "cancelled", "failed"],
  ["it never started: launch failed", { kind: "launch_failed", ...notStarted }, "cancelled", "launch_failed"],
  ["it never started: vanished", { kind: "vanished", ...notStarted }, "cancelled", "failed"],
  ["it never started: claim taken", { kind: "exited", started: false }, "cancelled", "launch_failed"],
])("%s", (_, fields, kind, withoutCancel) => {
  const end = jobEnd(fields);
  expect(concludeOutcome(end, NO_FINDINGS, stoppedByUs(5, end))).toMatchObject({
    kind,
    ok: kind === "succeeded",
  });
  expect(concludeOutcome(end, NO_FINDINGS, stoppedByUs(null, end)).kind).toBe(withoutCancel);
});

test("a cancel by somebody else says so when the scheduler gives no reason", () => {
  const end = jobEnd({ kind: "cancelled", exitCode: null });
  expect(concludeOutcome(end, NO_FINDINGS, false).reason).toBe(
    "cancelled at the scheduler, not through this task",
  );
  expect(concludeOutcome({ ...end, reason: "by 0" }, NO_FINDINGS, false).reason).toBe("by 0");
  expect(concludeOutcome(end, NO_FINDINGS, true).reason).toBeNull();
});

test("a cancel asked after the end was known stopped nothing, unless the job is requeued", () => {
  const running = tell(freshRecord(), submitted, sawRunning()).record;
  expect(cancelInTime(running)).toBeNull();
  const before = tell(running, cancel, sawEnd()).record;
  expect(cancelInTime(before)).toBe(before.cancel?.atMs);
  const after = tell(running, sawEnd({ termAtMs: 1 }), cancel).record;
  expect(after.cancel).not.toBeNull();
  expect(cancelInTime(after)).toBeNull();
  const requeued = tell(after, sawRequeued, sawRunning(1), sawEnd({ requeues: 1 })).record;
  expect(cancelInTime(requeued)).toBe(after.cancel?.atMs);
});

test("an end without a start is told as cancelled by the look that sees it, if cancel was asked", () => {
  const start = tell(freshRecord(), submitted, cancel).record;
  const { record } = tell(start, sawEnd({ kind: "vanished", ...notStarted }));
  expect(record).toMatchObject({ phase: "ended", outcome: { kind: "cancelled" } });
});
