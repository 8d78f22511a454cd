import { createAdapters } from "../../compose.ts";
import type { Settings } from "../../config/settings.ts";
import type { SchedulerAdapter } from "../../domain/adapter.ts";
import { type Finding, findingsOf, reason } from "./finding.ts";

/** What each target's own check says. All are asked at once: one that hangs costs its deadline only once. */
export async function checkTargets(settings: Settings): Promise<Finding[]> {
  const adapters = createAdapters(settings);
  try {
    const { callTimeoutMs } = settings.tuning;
    const all = [...adapters].map(([name, adapter]) => checkTarget(name, adapter, callTimeoutMs));
    return (await Promise.all(all)).flat();
  } finally {
    await Promise.all([...adapters.values()].map((adapter) => adapter.close()));
  }
}

async function checkTarget(name: string, adapter: SchedulerAdapter, timeoutMs: number): Promise<Finding[]> {
  const { ok, warn, fail } = findingsOf(`target ${name}`);
  try {
    const lines = await adapter.check(AbortSignal.timeout(timeoutMs));
    return lines.map(({ what, ok: isWell, found, advice }) => {
      if (isWell) return advice === null ? ok(what, found) : warn(what, found, advice);
      return fail(what, found, advice ?? "see the scheduler's documentation");
    });
  } catch (error) {
    return [fail(adapter.scheduler, reason(error), "jobs of this target wait until it can be reached")];
  }
}
