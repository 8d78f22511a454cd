import type { SchedulerAdapter } from "../src/domain/adapter.ts";
import type { WorkerDeps } from "./deps.ts";

const EVERY_MS = 60_000;

type UsageDeps = Pick<WorkerDeps, "log" | "target"> & { readonly adapter: Pick<SchedulerAdapter, "usage"> };

/**
 * Logs once a minute how much the target's scheduler was asked, so that its operator can see it; a minute without a
 * question is left out. Returns what ends it. The timer keeps no process alive.
 */
export function logUsage({ adapter, log, target }: UsageDeps): () => void {
  const timer = setInterval(() => {
    const { lastMinute, total } = adapter.usage();
    if (lastMinute > 0) log.info({ event: "scheduler.usage", target, lastMinute, total });
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
