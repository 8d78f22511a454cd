import { rmSync } from "node:fs";

/** Removes a directory in which something that was just killed (a child of Redis, a job) may still make a file. */
export function removeTree(path: string): void {
  for (let left = 20; ; left--) {
    try {
      // Its own retries do not list a directory again.
      rmSync(path, { recursive: true, force: true, maxRetries: 1, retryDelay: 50 });
      return;
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}
