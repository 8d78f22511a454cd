import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createCommandCounter } from "../../../adapters/schedulers/shared/command-counter.ts";
import { logUsage } from "../../../workers/usage.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] }));
afterEach(() => void vi.useRealTimers());

/** What is logged about one target whose scheduler is asked through `note`. */
function usageOf(target: string) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line)) });
  const counter = createCommandCounter(Date.now);
  const stop = logUsage({ target, log, adapter: { usage: () => counter.usage() } });
  return { lines, stop, note: counter.note };
}

test("what a scheduler was asked is logged once a minute, and a minute without a question is not", () => {
  const { lines, note } = usageOf("hpc");
  vi.advanceTimersByTime(30_000);
  for (const command of ["sbatch", "squeue", "squeue"]) note(command);
  vi.advanceTimersByTime(29_000);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(31_000);
  note("squeue");
  vi.advanceTimersByTime(600_000);
  const event = { level: 30, event: "scheduler.usage", target: "hpc" };
  expect(lines).toEqual([
    { ...event, lastMinute: 3, total: { sbatch: 1, squeue: 2 } },
    { ...event, lastMinute: 1, total: { sbatch: 1, squeue: 3 } },
  ]);
});

test("nothing is logged after it was stopped", () => {
  const { lines, stop, note } = usageOf("hpc");
  vi.advanceTimersByTime(30_000);
  note("squeue");
  stop();
  stop();
  vi.advanceTimersByTime(60_000);
  expect(lines).toEqual([]);
});
