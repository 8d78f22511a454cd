import type { EventPage, TaskStore } from "../domain/store.ts";

/** One process's view of a task that somebody follows: one subscription and one reader, however many followers. */
export type TaskFeed = {
  /** Grows with every change; a read begun at a version shows all that made it. */
  version(): number;
  /** Resolves once the version is another than `seen`, or the signal aborts. */
  changed(seen: number, signal: AbortSignal): Promise<void>;
  /** Followers that ask for the same page at the same version share one read. */
  read(after: number | null): Promise<EventPage | null>;
  leave(): void;
};

export type Feeds = { join(taskId: string): Promise<TaskFeed> };

type Shared = {
  followers: number;
  version: number;
  readonly waiting: Set<() => void>;
  readonly reads: Map<string, Promise<EventPage | null>>;
  readonly unwatch: Promise<() => void>;
};

/** Events per page: at the payload limit a page is 1 MiB. */
const PAGE_EVENTS = 128;

export function createFeeds(store: Pick<TaskStore, "watchTask" | "readEvents">): Feeds {
  const shared = new Map<string, Shared>();

  function open(taskId: string): Shared {
    const waiting = new Set<() => void>();
    const feed: Shared = {
      followers: 0,
      version: 0,
      waiting,
      reads: new Map(),
      unwatch: store.watchTask(taskId, () => {
        feed.version += 1;
        for (const wake of [...waiting]) wake();
      }),
    };
    shared.set(taskId, feed);
    return feed;
  }

  async function release(taskId: string, feed: Shared): Promise<void> {
    feed.followers -= 1;
    if (feed.followers > 0) return;
    if (shared.get(taskId) === feed) shared.delete(taskId);
    (await feed.unwatch)();
  }

  return {
    async join(taskId) {
      const feed = shared.get(taskId) ?? open(taskId);
      feed.followers += 1;
      try {
        await feed.unwatch;
      } catch (error) {
        if (shared.get(taskId) === feed) shared.delete(taskId);
        throw error;
      }
      let isLeft = false;
      return {
        version: () => feed.version,
        changed: (seen, signal) => nextChange(feed, seen, signal),
        read: (after) => sharedRead(feed, after, () => store.readEvents(taskId, after, PAGE_EVENTS)),
        leave() {
          if (isLeft) return;
          isLeft = true;
          void release(taskId, feed);
        },
      };
    },
  };
}

function nextChange(feed: Shared, seen: number, signal: AbortSignal): Promise<void> {
  if (feed.version !== seen || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = () => {
      feed.waiting.delete(wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    feed.waiting.add(wake);
    signal.addEventListener("abort", wake, { once: true });
  });
}

/** The version is part of the key: a read begun before a change may not show it, so nobody may join that one later. */
function sharedRead(
  feed: Shared,
  after: number | null,
  read: () => Promise<EventPage | null>,
): Promise<EventPage | null> {
  const key = `${feed.version}:${after ?? ""}`;
  const running = feed.reads.get(key);
  if (running !== undefined) return running;
  const started = read().finally(() => feed.reads.delete(key));
  feed.reads.set(key, started);
  return started;
}
