import { BridgeError } from "../src/domain/errors.ts";
import type { WorkerDeps } from "./deps.ts";

/**
 * One call to the scheduler with a deadline. A call that the deadline or our own stop cut off may have been carried out
 * all the same: that is `uncertain`, whatever the adapter threw.
 */
export async function ask<T>(
  { target }: Pick<WorkerDeps, "target">,
  at: { readonly withinMs: number; readonly stop?: AbortSignal },
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = AbortSignal.timeout(at.withinMs);
  const signal = at.stop === undefined ? limit : AbortSignal.any([limit, at.stop]);
  try {
    return await call(signal);
  } catch (error) {
    if (error instanceof BridgeError || !signal.aborted) throw error;
    const why = at.stop?.aborted ? "cut off because we are stopping" : `no answer within ${at.withinMs} ms`;
    throw new BridgeError("uncertain", target, `target ${target}: ${why}`, { cause: error });
  }
}
