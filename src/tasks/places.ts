import { TailraceError } from "../domain/errors.ts";

export type StreamLimits = {
  /** Streams that one caller may hold open in this process. */
  readonly streamsPerCaller: number;
  /** Of those, how many may follow one task. */
  readonly streamsPerTask: number;
};

/** Places for streams. Throws `limit_reached` when none is left; the answer gives the place back, once. */
export type StreamPlaces = { take(callerId: string, taskId: string): () => void };

export function createStreamPlaces(limits: StreamLimits): StreamPlaces {
  const taken = new Map<string, number>();
  const count = (key: string) => taken.get(key) ?? 0;
  const add = (key: string, by: number) => {
    const left = count(key) + by;
    if (left > 0) taken.set(key, left);
    else taken.delete(key);
  };
  return {
    take(callerId, taskId) {
      const ofTask = `${callerId}:${taskId}`;
      if (count(callerId) >= limits.streamsPerCaller) throw full("open streams", limits.streamsPerCaller);
      if (count(ofTask) >= limits.streamsPerTask)
        throw full("open streams of this task", limits.streamsPerTask);
      for (const key of [callerId, ofTask]) add(key, 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        for (const key of [callerId, ofTask]) add(key, -1);
      };
    },
  };
}

function full(what: string, limit: number): TailraceError {
  return new TailraceError(
    "limit_reached",
    `You hold ${limit} ${what}, which is the limit; close one first.`,
    {
      data: { limit },
    },
  );
}
