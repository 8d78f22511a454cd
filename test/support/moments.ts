import { setTimeout as delay } from "node:timers/promises";
import type { Phase } from "../../src/domain/task.ts";
import { DEFAULT_PREFIX, storeKeys } from "../../src/store/keys.ts";
import { claimOf } from "../../src/tasks/identity.ts";
import { ALICE } from "./front-desk.ts";
import type { Topology } from "./topology.ts";

export const CRASH_PHASES = ["submitting", "running", "collecting"] as const;
export type CrashPhase = (typeof CRASH_PHASES)[number];

/** Sees a run's phase change, from outside and within about a millisecond. */
export type Moments = {
  /**
   * True as soon as the task has been in the phase for `lingerMs` and still was when last looked at; false once it has
   * moved on.
   */
  within(phase: CrashPhase, lingerMs: number): Promise<boolean>;
  /** How long the task stays in each phase, in ms. */
  durations(): Promise<Record<CrashPhase, number>>;
};

const ORDER: readonly Phase[] = [
  "accepted",
  "submitting",
  "queued",
  "held",
  "running",
  "suspended",
  "collecting",
  "ended",
];
const SEEN_MS = 30_000;

export function watchPhases({ observer }: Pick<Topology, "observer">, tool: string, run: string): Moments {
  const keys = storeKeys(DEFAULT_PREFIX);
  const claim = keys.claim(claimOf({ owner: ALICE.id, tool, token: `key:${run}` }));
  let taskKey: string | null = null;
  const look = async (): Promise<Phase | null> => {
    if (taskKey === null) {
      const id = await observer.hget(claim, "id");
      if (id === null) return null;
      taskKey = keys.task(id);
    }
    return (await observer.hget(taskKey, "ph")) as Phase | null;
  };
  return {
    async within(phase, lingerMs) {
      const deadline = performance.now() + SEEN_MS;
      let sinceMs: number | null = null;
      while (performance.now() < deadline) {
        const seen = await look();
        if (seen !== null && ORDER.indexOf(seen) > ORDER.indexOf(phase)) return false;
        if (seen === phase) {
          sinceMs ??= performance.now();
          if (performance.now() - sinceMs >= lingerMs) return true;
        }
        await delay(1);
      }
      throw new Error(`run ${run} did not reach ${phase}`);
    },
    async durations() {
      const totals: Record<CrashPhase, number> = { submitting: 0, running: 0, collecting: 0 };
      let lastMs = performance.now();
      for (let seen = await look(); seen !== "ended"; seen = await look()) {
        const nowMs = performance.now();
        if (seen === "submitting" || seen === "running" || seen === "collecting")
          totals[seen] += nowMs - lastMs;
        lastMs = nowMs;
        await delay(1);
      }
      return totals;
    },
  };
}
