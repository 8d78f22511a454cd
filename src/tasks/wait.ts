import type { Principal } from "../domain/principal.ts";
import type { TaskStore } from "../domain/store.ts";
import { openInputs, type TaskRecord } from "../domain/task.ts";
import type { Feeds, TaskFeed } from "./feed.ts";
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
  { taskId, timeoutMs, signal }: WaitRequest,
): Promise<Waited> {
  const over = new AbortController();
  const stop = () => over.abort();
  const timer = setTimeout(stop, timeoutMs);
  signal.addEventListener("abort", stop, { once: true });
  let feed: TaskFeed | null = null;
  try {
    feed = await feeds.join(taskId);
    while (!over.signal.aborted && !signal.aborted) {
      const seen = feed.version();
      const { record } = await readOwned(store, caller, taskId);
      if (record.phase === "ended") return { kind: "ended", record };
      if (openInputs(record).length > 0) return { kind: "asking" };
      await feed.changed(seen, over.signal);
    }
    return { kind: signal.aborted ? "left" : "timeout" };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    feed?.leave();
  }
}
