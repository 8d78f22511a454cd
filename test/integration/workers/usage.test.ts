import { expect, test, vi } from "vitest";
import { startWorld } from "../../support/world.ts";

test("the workers' log of usage keeps no process alive, and ends when they close", async () => {
  const set = vi.spyOn(globalThis, "setInterval");
  const world = await startWorld();
  try {
    const timers = set.mock.calls.flatMap(([, everyMs], call) =>
      everyMs === 60_000 ? [set.mock.results[call]?.value as NodeJS.Timeout] : [],
    );
    expect(timers.map((timer) => timer.hasRef())).toEqual([false]);
    const clear = vi.spyOn(globalThis, "clearInterval");
    await world.stopWorkers();
    expect(clear).toHaveBeenCalledWith(timers[0]);
  } finally {
    await world.stop();
    vi.restoreAllMocks();
  }
});
