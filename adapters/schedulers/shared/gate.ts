import { BridgeError } from "../../../src/domain/errors.ts";
import { asBridgeError } from "./atomic-file.ts";
import { INSTANCE } from "./mark.ts";
import { untilAborted } from "./until-aborted.ts";

/** Every call of an adapter goes through here: what it needs is opened once, faults come out as BridgeErrors. */
export type Gate<T> = {
  /** `doing` begins messages: "submitting a job". */
  call<R>(doing: string, signal: AbortSignal, work: (opened: T) => Promise<R>): Promise<R>;
  /** Refuses all later calls. What had been opened, or null. */
  close(): Promise<T | null>;
};

export type Place<T> = {
  /** The target's name, for messages. */
  readonly target: string;
  readonly instance: string;
  /** Called again by the next call when it failed. */
  readonly open: () => Promise<T>;
  /** Throws when the work directory is not what it was. One that was unmounted looks empty: that is not "no such job". */
  readonly assertPresent: (opened: T) => Promise<void>;
};

/** Throws for an instance that cannot be part of a mark. */
export function createGate<T>({ target, instance, open, assertPresent }: Place<T>): Gate<T> {
  if (!INSTANCE.test(instance))
    throw new Error(
      `the instance ${JSON.stringify(instance)} must be 1 to 20 letters, digits and inner hyphens`,
    );
  let opening: Promise<T> | null = null;
  let isClosed = false;
  const opened = () => {
    opening ??= open().catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  };
  return {
    async call(doing, signal, work) {
      if (isClosed)
        throw new BridgeError("unreachable", target, `${doing} on target ${target}: the adapter is closed`);
      try {
        return await untilAborted(signal, async () => {
          const parts = await opened();
          await assertPresent(parts);
          return work(parts);
        });
      } catch (error) {
        if (signal.aborted) throw error;
        throw asBridgeError(error, { fault: "unreachable", target, doing });
      }
    },
    async close() {
      isClosed = true;
      return (await opening?.catch(() => null)) ?? null;
    },
  };
}
