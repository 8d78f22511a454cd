import fc from "fast-check";
import { expect, test } from "vitest";
import { createCommandCounter } from "../../../../adapters/schedulers/shared/command-counter.ts";
import { createPace } from "../../../../adapters/schedulers/slurm/pace.ts";

test("the queue is looked at once per interval, more rarely while the controller is slow, up to a minute", () => {
  const pace = createPace(5000, () => 1);
  expect(pace.intervalMs).toBe(5000);
  pace.answered(30);
  expect(pace.intervalMs).toBe(5000);
  pace.answered(2000);
  expect(pace.intervalMs).toBe(20_000);
  pace.answered(20_000);
  expect(pace.intervalMs).toBe(60_000);
  pace.answered(30);
  expect(pace.intervalMs).toBe(5000);
});

test("each failure in a row doubles the interval with jitter, never below it, never over a minute; one answer ends that", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (failures, draw) => {
        const pace = createPace(2000, () => draw);
        for (let index = 0; index < failures; index++) pace.failed();
        const full = Math.min(2000 * 2 ** failures, 60_000);
        expect(pace.intervalMs).toBeGreaterThanOrEqual(Math.max(2000, Math.floor(full / 2)));
        expect(pace.intervalMs).toBeLessThanOrEqual(full);
        pace.answered(1);
        expect(pace.intervalMs).toBe(2000);
      },
    ),
  );
});

test("calls are counted by command for ever, and over the last minute", () => {
  let now = 0;
  const counter = createCommandCounter(() => now);
  for (let second = 0; second < 120; second++) {
    now = second * 1000;
    counter.note("squeue");
  }
  counter.note("sbatch");
  expect(counter.usage()).toEqual({ lastMinute: 61, total: { squeue: 120, sbatch: 1 } });
  now += 60_000;
  expect(counter.usage().lastMinute).toBe(0);
});
