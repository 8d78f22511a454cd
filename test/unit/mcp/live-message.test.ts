import { expect, test } from "vitest";
import type { TaskRecord } from "../../../src/domain/task.ts";
import { type LiveProgress, liveHead, liveMessage, pollIntervalMs } from "../../../src/mcp/live-message.ts";
import { durationText, nodesText, oneLine } from "../../../src/mcp/words.ts";
import { freshRecord, T0 } from "../../support/records.ts";

const MINUTE = 60_000;
const PROGRESS: LiveProgress = {
  text: "step 4200 of 12000 · p 3.1e-4",
  current: 4200,
  total: 12000,
  unit: "step",
  etaSeconds: 11 * 60 + 30,
  metrics: {},
  atMs: T0 + 12 * MINUTE,
};

function line(
  fields: Partial<TaskRecord>,
  progress: LiveProgress | null = null,
  isTargetKnown = true,
): string {
  return liveMessage(liveHead(freshRecord(fields)), progress, { nowMs: T0 + 12 * MINUTE, isTargetKnown });
}

const RUNNING: Partial<TaskRecord> = { phase: "running", startedAtMs: T0, nodes: ["c3"], target: "cluster" };

test("S12 a running task's line is the one the design shows", () => {
  expect(line(RUNNING, PROGRESS)).toBe("running 12m on c3 · step 4200 of 12000 · p 3.1e-4 · ETA 11m");
});

test.each<[string, Partial<TaskRecord>, string]>([
  ["accepted", {}, "accepted, about to be submitted to here"],
  [
    "submitting",
    { phase: "submitting", reason: "sbatch timed out" },
    "being submitted to here (sbatch timed out)",
  ],
  ["queued", { phase: "queued", queuedAtMs: T0, reason: "Priority" }, "queued 12m on here (Priority)"],
  ["held", { phase: "held", queuedAtMs: T0, reason: null }, "held 12m on here"],
  ["suspended", { phase: "suspended", startedAtMs: T0 }, "suspended on here"],
  ["collecting", { phase: "collecting" }, "the job has stopped; collecting its output"],
  ["cancelling", { ...RUNNING, cancel: { atMs: T0, by: "x" } }, "cancelling · running 12m on c3"],
  [
    "out of sight",
    { ...RUNNING, unseen: { sinceMs: T0, looks: 2, why: "slurmdbd\nis down", gone: null } },
    "running 12m on c3 · cluster cannot tell about the job just now (slurmdbd is down)",
  ],
  [
    "unseen once",
    { ...RUNNING, unseen: { sinceMs: T0, looks: 1, why: "x", gone: null } },
    "running 12m on c3",
  ],
])("a task that is %s says so", (_, fields, expected) => {
  expect(line(fields)).toBe(expected);
});

test("a question comes first, in its own words", () => {
  const ask = (request: TaskRecord["inputs"][number]["request"]) => ({
    ...RUNNING,
    inputs: [{ key: "k", request, askedAtMs: T0, answeredAtMs: null, deliveredAtMs: null }],
  });
  expect(line(ask({ params: { message: "Which\tmesh?" } }))).toBe(
    "input needed: Which mesh? · running 12m on c3",
  );
  expect(line(ask({}))).toMatch(/^input needed: k ·/);
});

test("a target that is not configured here is named", () => {
  expect(line({}, null, false)).toContain("target here is not configured here");
});

test("progress of an earlier life is not shown while the job waits again", () => {
  expect(line({ phase: "queued", queuedAtMs: T0 }, PROGRESS)).toBe("queued 12m on here");
});

test("polling widens with the wait up to 10 s, in whole milliseconds, and is quick otherwise", () => {
  const poll = (fields: Partial<TaskRecord>, afterMs: number) =>
    pollIntervalMs(liveHead(freshRecord(fields)), T0 + afterMs);
  const queued: Partial<TaskRecord> = { phase: "queued", queuedAtMs: T0 };
  expect([0, 15_003, 60_000, 1e9, -5000].map((ms) => poll(queued, ms))).toEqual([
    1000, 1500, 6000, 10_000, 1000,
  ]);
  for (const phase of ["accepted", "submitting", "running", "collecting"] as const) {
    expect(poll({ phase }, 1e9)).toBe(1000);
  }
});

test("durations, lines and nodes are short", () => {
  const spans = [-1, 42_900, 12 * MINUTE, 200 * MINUTE, 180 * MINUTE, 100 * 60 * MINUTE].map(durationText);
  expect(spans).toEqual(["0s", "42s", "12m", "3h 20m", "3h", "4d 4h"]);
  expect(oneLine("a\u001b[1m\r\nb", 10)).toBe("a [1m b");
  expect(oneLine("x".repeat(20), 10)).toBe(`${"x".repeat(9)}…`);
  expect([["c1"], ["c1", "c2"], ["c1", "c2", "c3", "c4"]].map(nodesText)).toEqual([
    "c1",
    "c1, c2",
    "c1 and 3 more",
  ]);
});
