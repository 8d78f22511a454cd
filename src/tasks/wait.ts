import type { Principal } from "../domain/principal.ts";
import type { TaskStore } from "../domain/store.ts";
import { openInputs, type TaskRecord } from "../domain/task.ts";
import type { Feeds } from "./feed.ts";
import { readOwned } from "./owned.ts";

export type WaitRequest = {
  readonly taskId: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/**
 * `ended` with the record · `asking` the job waits for an answer that a waiting caller cannot give · `timeout` ·
 * `left` the caller hung up.
 */
export type Waited =
  | { readonly kind: "ended"; readonly record: TaskRecord }
  | { readonly kind: "asking" | "timeout" | "left" };

/** Waits for a task's end on its feed; nothing polls. */
export async function waitForEnd(
  { store, feeds }: { readonly store: TaskStore; readonly feeds: Feeds },
  caller: Principal,
  request: WaitRequest,
): Promise<Waited> {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const over = AbortSignal.any([timeout, request.signal]);
  const feed = await feeds.join(request.taskId);
  try {
    while (!over.aborted) {
      const seen = feed.version();
      const { record } = await readOwned(store, caller, request.taskId);
      if (record.phase === "ended") return { kind: "ended", record };
      if (openInputs(record).length > 0) return { kind: "asking" };
      await feed.changed(seen, over);
    }
    return { kind: request.signal.aborted ? "left" : "timeout" };
  } finally {
    feed.leave();
  }
}
