import type { SchedulerUsage } from "../../../src/domain/adapter.ts";

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

export type CommandCounter = {
  /** Notes one call of this command or kind of request. */
  note(command: string): void;
  usage(): SchedulerUsage;
};

/** Counts what a target is asked, so that its operator can see how polite we are. Memory does not grow. */
export function createCommandCounter(now: () => number): CommandCounter {
  const total = new Map<string, number>();
  const seconds = new Map<number, number>();
  const forget = () => {
    const oldest = Math.floor((now() - MINUTE_MS) / SECOND_MS);
    for (const second of seconds.keys()) if (second <= oldest) seconds.delete(second);
  };
  return {
    note: (command) => {
      const second = Math.floor(now() / SECOND_MS);
      total.set(command, (total.get(command) ?? 0) + 1);
      seconds.set(second, (seconds.get(second) ?? 0) + 1);
      forget();
    },
    usage: () => {
      forget();
      const lastMinute = [...seconds.values()].reduce((sum, calls) => sum + calls, 0);
      return { lastMinute, total: Object.fromEntries(total) };
    },
  };
}
