import { setTimeout as delay } from "node:timers/promises";
import { untilAborted } from "./until-aborted.ts";

type Waiting<K, V> = {
  readonly key: K;
  readonly signal: AbortSignal;
  readonly settle: (answer: Promise<V>) => void;
};

export type Gatherer<K, V> = (key: K, signal: AbortSignal) => Promise<V>;

/**
 * Turns single questions that come close together into one call. `work` gets the keys of one batch and answers in their
 * order; its signal fires once everybody who asked has given up.
 */
export function createGatherer<K, V>(
  gatherMs: number,
  maxBatch: number,
  work: (keys: readonly K[], signal: AbortSignal) => Promise<readonly V[]>,
): Gatherer<K, V> {
  let waiting: Waiting<K, V>[] = [];

  const send = (batch: readonly Waiting<K, V>[]) => {
    const stop = new AbortController();
    let left = batch.length;
    const leave = () => {
      left--;
      if (left === 0) stop.abort(new Error("nobody waits for the answer any more"));
    };
    for (const { signal } of batch) {
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave, { once: true });
    }
    const answers = work(
      batch.map(({ key }) => key),
      stop.signal,
    ).finally(() => {
      for (const { signal } of batch) signal.removeEventListener("abort", leave);
    });
    for (const [index, { settle }] of batch.entries()) {
      settle(
        answers.then((all) => {
          const answer = all[index];
          if (answer === undefined) throw new Error("a batch came back short");
          return answer;
        }),
      );
    }
  };

  const gather = async () => {
    await delay(gatherMs);
    const all = waiting;
    waiting = [];
    for (let from = 0; from < all.length; from += maxBatch) send(all.slice(from, from + maxBatch));
  };

  return (key, signal) =>
    untilAborted(
      signal,
      () =>
        new Promise<V>((resolve) => {
          waiting.push({ key, signal, settle: resolve });
          if (waiting.length === 1) void gather();
        }),
    );
}
