import type { Logger } from "pino";
import { fingerprint } from "../domain/task.ts";

/** Wakes the worker of a duty before it is overdue. The duty itself stands in the store already. */
export type Hasten = (target: string, member: string) => Promise<void>;

export type HastenDeps = { readonly hasten: Hasten; readonly log: Logger };

/** Never waited for and never a caller's fault: upkeep takes up what was not hastened. */
export function hastenAll(
  { hasten, log }: HastenDeps,
  task: { readonly id: string; readonly target: string },
  members: readonly string[],
): void {
  for (const member of members) {
    hasten(task.target, member).catch((error: unknown) => {
      const about = { event: "hasten_failed", task: fingerprint(task.id), target: task.target };
      log.warn({ ...about, err: error }, "a duty was not hastened; upkeep will take it up");
    });
  }
}
