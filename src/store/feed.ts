import type { Redis } from "ioredis";
import { TailraceError } from "../domain/errors.ts";
import { withFaults } from "./faults.ts";

/** Nudges: one subscriber connection per process, however many tasks and clients. */
export type Feed = {
  watch(taskId: string, onChange: () => void): Promise<() => void>;
  close(): void;
};

/** How long the first watcher waits for the subscription. */
const SUBSCRIBE_DEADLINE_MS = 2000;
/** Everybody looks again this often, whatever was heard: a nudge is a hint, the log is the truth. */
const SAFETY_NET_MS = 5000;

/**
 * `watch` resolves once the subscription stands, so "watch, then read" misses nothing. Nudges are lost while
 * disconnected: after a reconnection the channel is subscribed anew and then everybody is called back, in this order,
 * else a change between the two would be missed.
 */
export function createFeed(subscriber: Redis, channel: string, safetyNetMs = SAFETY_NET_MS): Feed {
  const watchers = new Map<string, Set<() => void>>();
  let subscribed: Promise<void> | null = null;

  const callEverybody = () => {
    for (const callbacks of [...watchers.values()]) for (const call of [...callbacks]) call();
  };
  const onMessage = (from: string, taskId: string) => {
    if (from !== channel) return;
    for (const call of [...(watchers.get(taskId) ?? [])]) call();
  };
  const onReady = () => {
    if (subscribed === null) return;
    // When this fails the connection is gone again, and the next `ready` does it all anew.
    subscriber.subscribe(channel).then(callEverybody, () => undefined);
  };
  const subscribe = (): Promise<void> => {
    subscribed ??= withDeadline(subscriber.subscribe(channel)).catch((error: unknown) => {
      subscribed = null;
      throw error;
    });
    return subscribed;
  };

  subscriber.on("message", onMessage);
  subscriber.on("ready", onReady);
  const timer = setInterval(callEverybody, safetyNetMs);
  timer.unref();

  return {
    async watch(taskId, onChange) {
      // A wrapper of its own, so that one function may watch twice and be taken away once.
      const call = () => onChange();
      const callbacks = watchers.get(taskId) ?? new Set();
      watchers.set(taskId, callbacks.add(call));
      const unwatch = () => {
        callbacks.delete(call);
        if (callbacks.size === 0 && watchers.get(taskId) === callbacks) watchers.delete(taskId);
      };
      try {
        await withFaults(subscribe);
      } catch (error) {
        unwatch();
        throw error;
      }
      return unwatch;
    },
    close() {
      clearInterval(timer);
      watchers.clear();
      subscriber.off("message", onMessage);
      subscriber.off("ready", onReady);
    },
  };
}

async function withDeadline(subscription: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new TailraceError("store_unavailable", "Redis did not answer to SUBSCRIBE in time. Retry.");
    timer = setTimeout(() => reject(error), SUBSCRIBE_DEADLINE_MS);
  });
  try {
    await Promise.race([subscription, late]);
  } finally {
    clearTimeout(timer);
  }
}
