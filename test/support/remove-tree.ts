import { rmSync } from "node:fs";

/** Removes a directory in which something that was just killed (a child of Redis, a job) may still make a file. */
export function removeTree(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}
