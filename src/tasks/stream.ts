import { setTimeout as delay } from "node:timers/promises";
import { TailraceError } from "../domain/errors.ts";
import type { Principal } from "../domain/principal.ts";
import type { EventPage } from "../domain/store.ts";
import type { Feeds, TaskFeed } from "./feed.ts";
import { isTaskId } from "./identity.ts";
import { unknownTask } from "./owned.ts";
import type { StreamPlaces } from "./places.ts";

export type EventBatch = {
  readonly firstSeq: number;
  /** Ready JSON text of each event, as EventPage has it. */
  readonly events: readonly string[];
};

/** A caller's way through a task's events. Pull: whoever reads slowly holds up nobody else. */
export type EventStream = {
  /** The next events, in order and without a gap; null once the task has ended and all were handed out. */
  next(): Promise<EventBatch | null>;
  close(): void;
};

export type StreamRequest = {
  readonly taskId: string;
  /** Exclusive cursor; null: from the earliest event kept. */
  readonly after: number | null;
  readonly signal: AbortSignal;
};

export type StreamDeps = { readonly feeds: Feeds; readonly places: StreamPlaces };

/** While the store is away an attached reader is kept, and asked for again this often. */
const RETRY_MS = 1000;
const MAX_RETRIES = 60;

/**
 * Opens a stream and reads its first page, so that what is wrong with the request is thrown before anything is sent:
 * `unknown_task`, `invalid_cursor`, `events_gone`, `limit_reached`.
 */
export async function openStream(
  { feeds, places }: StreamDeps,
  caller: Principal,
  request: StreamRequest,
): Promise<EventStream> {
  if (!isTaskId(request.taskId)) throw unknownTask();
  const leavePlace = places.take(caller.id, request.taskId);
  let feed: TaskFeed | null = null;
  try {
    // Joined before the first read: what changes in between is told by the feed.
    feed = await feeds.join(request.taskId);
    return await startReading(feed, { caller, request, leavePlace });
  } catch (error) {
    feed?.leave();
    leavePlace();
    throw error;
  }
}

async function startReading(
  feed: TaskFeed,
  { caller, request, leavePlace }: { caller: Principal; request: StreamRequest; leavePlace: () => void },
): Promise<EventStream> {
  let seen = feed.version();
  let cursor = request.after;
  const first = owned(await feed.read(cursor), caller);
  let page: EventPage | null = checkCursor(first, request);

  async function next(): Promise<EventBatch | null> {
    while (!request.signal.aborted) {
      const current: EventPage = page ?? checkCursor(await read(), { ...request, after: cursor });
      page = null;
      if (current.events.length > 0) {
        cursor = current.firstSeq + current.events.length - 1;
        return { firstSeq: current.firstSeq, events: current.events };
      }
      if (current.ended) return null;
      await feed.changed(seen, request.signal);
    }
    return null;
  }

  async function read(): Promise<EventPage> {
    for (let tries = 1; ; tries += 1) {
      seen = feed.version();
      try {
        return owned(await feed.read(cursor), caller);
      } catch (error) {
        if (!isOutage(error) || tries > MAX_RETRIES || request.signal.aborted) throw error;
        await delay(RETRY_MS, undefined, { signal: request.signal }).catch(() => undefined);
      }
    }
  }

  let isClosed = false;
  return {
    next,
    close() {
      if (isClosed) return;
      isClosed = true;
      feed.leave();
      leavePlace();
    },
  };
}

function owned(page: EventPage | null, caller: Principal): EventPage {
  if (page === null || page.owner !== caller.id) throw unknownTask();
  return page;
}

/**
 * The page as it may be sent, or the reason why not. An ended task with nothing kept above the cursor has nothing to
 * miss; a live one has, so a cursor beyond its newest event is a mistake that waiting would hide.
 */
function checkCursor(
  page: EventPage,
  { taskId, after }: { taskId: string; after: number | null },
): EventPage {
  const newest = page.nextSeq - 1;
  if (after === null || (page.ended && page.events.length === 0)) return page;
  if (after > newest) {
    throw new TailraceError(
      "invalid_cursor",
      `after is ${after}, but the newest event of this task is ${newest}.`,
      {
        data: { newestSeq: newest },
      },
    );
  }
  const wanted = after + 1;
  const isGone = page.events.length > 0 ? page.firstSeq > wanted : page.earliestSeq > wanted;
  if (isGone) {
    throw new TailraceError("events_gone", "Task events after this cursor are no longer kept.", {
      data: { reason: "events_gone", taskId, earliestSeq: page.earliestSeq },
    });
  }
  return page;
}

function isOutage(error: unknown): boolean {
  return error instanceof TailraceError && error.code === "store_unavailable";
}
