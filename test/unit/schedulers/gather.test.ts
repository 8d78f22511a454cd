import { expect, test } from "vitest";
import { createGatherer } from "../../../adapters/schedulers/shared/gather.ts";

const NEVER = new AbortController().signal;

test("questions that come close together are one call, each with its own answer", async () => {
  const batches: (readonly number[])[] = [];
  const ask = createGatherer(5, 100, async (keys: readonly number[]) => {
    batches.push(keys);
    return keys.map((key) => key * 2);
  });
  const answers = await Promise.all([1, 2, 3].map((key) => ask(key, NEVER)));
  expect(answers).toEqual([2, 4, 6]);
  expect(batches).toEqual([[1, 2, 3]]);
  expect(await ask(4, NEVER)).toBe(8);
  expect(batches.length).toBe(2);
});

test("more than a batch holds are several calls", async () => {
  const sizes: number[] = [];
  const ask = createGatherer(5, 2, async (keys: readonly number[]) => {
    sizes.push(keys.length);
    return keys;
  });
  await Promise.all([1, 2, 3, 4, 5].map((key) => ask(key, NEVER)));
  expect(sizes).toEqual([2, 2, 1]);
});

test("a fault reaches everybody who asked, and the next question starts afresh", async () => {
  let fails = true;
  const ask = createGatherer(1, 10, async (keys: readonly number[]) => {
    if (fails) throw new Error("away");
    return keys;
  });
  const first = await Promise.allSettled([ask(1, NEVER), ask(2, NEVER)]);
  expect(first.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  fails = false;
  expect(await ask(3, NEVER)).toBe(3);
});

test("one who gives up is answered at once; the call is stopped only when nobody waits for it any more", async () => {
  let stop: AbortSignal = NEVER;
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const ask = createGatherer(1, 10, (_: readonly number[], signal) => {
    stop = signal;
    begin();
    return new Promise<readonly number[]>(() => undefined);
  });
  const [one, two] = [new AbortController(), new AbortController()];
  const answers = [ask(1, one.signal), ask(2, two.signal)];
  await begun;
  one.abort(new Error("enough"));
  await expect(answers[0]).rejects.toThrow("enough");
  expect(stop.aborted).toBe(false);
  two.abort(new Error("enough"));
  await expect(answers[1]).rejects.toThrow("enough");
  expect(stop.aborted).toBe(true);
});
