import { z } from "zod";
import type { TaskEvent } from "../../domain/event.ts";
import { JsonObject } from "../../domain/json.ts";
import { RPC } from "../../mcp/protocol.ts";
import { Refused, Unreachable } from "./faults.ts";
import type { McpClient } from "./mcp-client.ts";
import type { Patience } from "./patience.ts";

/** What a follower hears, in the order of seq. */
export type News =
  | { readonly kind: "event"; readonly event: TaskEvent }
  /** Events that this follower will never see, both ends included. */
  | { readonly kind: "gap"; readonly fromSeq: number; readonly toSeq: number };

export type Following = {
  readonly taskId: string;
  /** Exclusive cursor; null: from the first event on. */
  readonly after: number | null;
  readonly signal: AbortSignal;
  readonly patience: Patience;
  readonly onNews: (news: News) => void;
};

const EventParams = z.object({
  seq: z.number().int().nonnegative(),
  taskId: z.string(),
  type: z.string(),
  payload: JsonObject,
});
const EventsGone = z.object({ earliestSeq: z.number().int().positive() });

const STOOD_MS = 10_000;
const ENDED: readonly unknown[] = ["completed", "failed", "cancelled"];

/**
 * Follows a task to its end over any number of connections and answers its tasks/get result. Each event is told once and
 * in order; what can no longer be had is told as a gap. The last event is the proof of the end: a stream also ends when
 * its server stops.
 */
export async function followTask(client: McpClient, following: Following): Promise<JsonObject> {
  const reader = createReader(following);
  let emptyEnds = 0;
  for (;;) {
    const before = reader.seen();
    const isProper = await readOnce(client, following, reader);
    if (reader.hasLast()) return await endedTask(client, following);
    if (!isProper) continue;
    const task = await getTask(client, following);
    const hasEnded = ENDED.includes(task["status"]);
    if (!hasEnded) await following.patience.wait(new Unreachable("the stream ended before the task did"));
    emptyEnds = hasEnded && reader.seen() === before ? emptyEnds + 1 : 0;
    // Nothing above the cursor on a task that has ended: its last event lies there or before. Asked for twice, since a
    // server that stops ends its streams too (and takes no second connection).
    if (emptyEnds > 1) return task;
  }
}

type Reader = {
  take(params: JsonObject): void;
  skipTo(earliestSeq: number): void;
  /** Newest seq that needs no telling any more; null before the first. */
  seen(): number | null;
  hasLast(): boolean;
};

function createReader({ taskId, after, onNews, patience }: Following): Reader {
  let seen = after;
  let hasLast = false;
  const skipTo = (seq: number) => {
    const fromSeq = (seen ?? -1) + 1;
    if (seq > fromSeq) onNews({ kind: "gap", fromSeq, toSeq: seq - 1 });
    seen = Math.max(seen ?? -1, seq - 1);
  };
  return {
    take(params) {
      const event = EventParams.safeParse(params);
      if (!event.success) throw new Unreachable("an event of the stream cannot be read");
      const { seq, type, payload } = event.data;
      if (event.data.taskId !== taskId || (seen !== null && seq <= seen)) return;
      skipTo(seq);
      seen = seq;
      patience.renew();
      if (/(^|\.)task\.ended$/.test(type)) hasLast = true;
      onNews({ kind: "event", event: { seq, type, payload } });
    },
    skipTo,
    seen: () => (seen === null || seen < 0 ? null : seen),
    hasLast: () => hasLast,
  };
}

/** One stream, to its end. True: the server ended it properly. */
async function readOnce(client: McpClient, following: Following, reader: Reader): Promise<boolean> {
  const { taskId, signal, patience } = following;
  const after = reader.seen();
  let openedMs: number | null = null;
  try {
    await client.request("tasks/stream", after === null ? { taskId } : { taskId, after }, {
      signal,
      onStream: () => {
        openedMs = performance.now();
      },
      onNotification: (method, params) => {
        if (method === "notifications/tasks/event") reader.take(params);
      },
    });
    return true;
  } catch (error) {
    if (error instanceof Refused && error.code === RPC.eventsGone) {
      reader.skipTo(EventsGone.parse(error.data).earliestSeq);
      return false;
    }
    if (!(error instanceof Unreachable)) throw error;
    // A stream that stood for a while was one, however quiet its task is.
    if (openedMs !== null && performance.now() - openedMs > STOOD_MS) patience.renew();
    await patience.wait(error);
    return false;
  }
}

/** By the time of the last event tasks/get already shows the end; another server may be a moment behind. */
async function endedTask(client: McpClient, following: Following): Promise<JsonObject> {
  for (;;) {
    const task = await getTask(client, following);
    if (ENDED.includes(task["status"])) return task;
    await following.patience.wait(new Unreachable("the task's last event is out, but its end is not"));
  }
}

function getTask(client: McpClient, { taskId, signal, patience }: Following): Promise<JsonObject> {
  return patience.insist(() => client.request("tasks/get", { taskId }, { signal }));
}
