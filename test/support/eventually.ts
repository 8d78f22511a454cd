import { setTimeout as delay } from "node:timers/promises";

/** Tries until it does not throw, or throws its last error after the deadline. */
export async function eventually<T>(attempt: () => T | Promise<T>, deadlineMs = 10_000): Promise<T> {
  const until = Date.now() + deadlineMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > until) throw error;
    }
    await delay(15);
  }
}
