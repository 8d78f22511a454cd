import { setTimeout as delay } from "node:timers/promises";
import { durationText, oneLine } from "../../mcp/words.ts";
import { EXIT } from "../exit-codes.ts";
import { CliFailure } from "../failure.ts";
import { Unreachable } from "./faults.ts";

const FIRST_MS = 500;
const LONGEST_MS = 10_000;

/** 500 ms × 2^tries up to 10 s, of which up to half is left to chance so that clients do not all come back at once. */
export function backoffMs(tries: number, random: () => number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(tries, 10));
  return Math.round(full / 2 + (full / 2) * random());
}

export type PatienceOptions = {
  /** How long nothing at all may be achieved, in ms. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  readonly onWait: (why: string, inMs: number) => void;
  /** Faults that waiting does not mend; they are thrown as they are. */
  readonly isHopeless?: (fault: Unreachable) => boolean;
  readonly random?: () => number;
  readonly clock?: () => number;
};

/** Waits out the times when the server is away. */
export type Patience = {
  /** Something was achieved: counting begins anew. */
  renew(): void;
  /** Waits before the next try; throws when patience is over, and the signal's reason at once when it aborts. */
  wait(fault: Unreachable): Promise<void>;
  /** Does the work until it is done, or fails with something else than `Unreachable`. */
  insist<T>(work: () => Promise<T>): Promise<T>;
};

export function createPatience(options: PatienceOptions): Patience {
  const { patienceMs, signal, onWait, isHopeless = () => false } = options;
  const { random = Math.random, clock = () => performance.now() } = options;
  let tries = 0;
  let sinceMs: number | null = null;
  const renew = () => {
    tries = 0;
    sinceMs = null;
  };
  const wait = async (fault: Unreachable) => {
    if (isHopeless(fault)) throw fault;
    sinceMs ??= clock();
    const leftMs = patienceMs - (clock() - sinceMs);
    if (leftMs <= 0) throw gaveUp(fault, patienceMs);
    const inMs = Math.min(backoffMs(tries, random), leftMs);
    tries += 1;
    onWait(fault.message, inMs);
    await delay(inMs, undefined, { signal, ref: true });
  };
  return {
    renew,
    wait,
    async insist(work) {
      for (;;) {
        try {
          const done = await work();
          renew();
          return done;
        } catch (error) {
          if (!(error instanceof Unreachable)) throw error;
          await wait(error);
        }
      }
    },
  };
}

function gaveUp(fault: Unreachable, patienceMs: number): CliFailure {
  const waited = patienceMs === 0 ? "" : ` (tried for ${durationText(patienceMs)}; --patience says how long)`;
  return new CliFailure(`no server answers: ${oneLine(fault.message, 300)}${waited}`, EXIT.unreachable, {
    cause: fault,
  });
}
