import { expect, test } from "vitest";
import type { EventPage } from "../../../src/domain/store.ts";
import { createFeeds } from "../../../src/tasks/feed.ts";
import { createStreamPlaces } from "../../../src/tasks/places.ts";

const PAGE: EventPage = { owner: "o", events: [], firstSeq: 0, earliestSeq: 0, nextSeq: 1, ended: false };

/** A store whose reads wait until they are let go. */
function heldStore() {
  const nudges = new Set<() => void>();
  const reads: { after: number | null; answer: () => void }[] = [];
  return {
    nudge: () => nudges.forEach((call) => void call()),
    watchers: () => nudges.size,
    reads,
    async watchTask(_: string, onChange: () => void) {
      nudges.add(onChange);
      return () => void nudges.delete(onChange);
    },
    readEvents: (_: string, after: number | null) =>
      new Promise<EventPage>((resolve) => reads.push({ after, answer: () => resolve(PAGE) })),
  };
}

test("followers of one task share one subscription, which goes with the last of them", async () => {
  const store = heldStore();
  const feeds = createFeeds(store);
  const [one, two] = await Promise.all([feeds.join("t"), feeds.join("t")]);
  expect(store.watchers()).toBe(1);
  one.leave();
  one.leave();
  await Promise.resolve();
  expect(store.watchers()).toBe(1);
  two.leave();
  await Promise.resolve();
  expect(store.watchers()).toBe(0);
  await feeds.join("t");
  expect(store.watchers()).toBe(1);
});

test("the same page is read once for all, but never from before a change that the asker has heard of", async () => {
  const store = heldStore();
  const feed = await createFeeds(store).join("t");
  const early = [feed.read(3), feed.read(3), feed.read(null)];
  expect(store.reads.map((read) => read.after)).toEqual([3, null]);
  store.nudge();
  const late = feed.read(3);
  expect(store.reads.map((read) => read.after)).toEqual([3, null, 3]);
  for (const read of store.reads) read.answer();
  await Promise.all([...early, late]);
  void feed.read(3);
  expect(store.reads).toHaveLength(4);
});

test("a change that came before the wait is not waited for, and an abort ends a wait", async () => {
  const store = heldStore();
  const feed = await createFeeds(store).join("t");
  const control = new AbortController();
  const seen = feed.version();
  store.nudge();
  await feed.changed(seen, control.signal);
  const waiting = feed.changed(feed.version(), control.signal);
  control.abort();
  await waiting;
});

test("a subscription that fails is told to whoever joined and is tried anew by the next", async () => {
  let isDown = true;
  const store = heldStore();
  const feeds = createFeeds({
    ...store,
    watchTask: async (id, onChange) => {
      if (isDown) throw new Error("down");
      return await store.watchTask(id, onChange);
    },
  });
  await expect(feeds.join("t")).rejects.toThrow("down");
  isDown = false;
  await feeds.join("t");
  expect(store.watchers()).toBe(1);
});

test("places are counted per caller and per task, and given back once", () => {
  const places = createStreamPlaces({ streamsPerCaller: 2, streamsPerTask: 1 });
  const leave = places.take("a", "t1");
  expect(() => places.take("a", "t1")).toThrow(/of this task/);
  places.take("a", "t2");
  expect(() => places.take("a", "t3")).toThrow(/open streams, which/);
  places.take("b", "t1");
  leave();
  leave();
  places.take("a", "t1");
  expect(() => places.take("a", "t3")).toThrow();
});
