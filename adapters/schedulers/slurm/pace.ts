/** A controller that answers slowly is left alone for this many times as long as it took. */
const REST = 10;
const MAX_MS = 60_000;

/** How often the queue may be looked at: the configured interval, longer while the controller is slow or away. */
export type Pace = {
  /** ms until the next look; drawn anew at each reading, so that several servers do not ask in step. */
  readonly intervalMs: number;
  answered(tookMs: number): void;
  failed(): void;
};

export function createPace(pollMs: number, random: () => number): Pace {
  let failures = 0;
  let tookMs = 0;
  const ceiling = Math.max(MAX_MS, pollMs);
  return {
    get intervalMs() {
      if (failures === 0) return Math.min(Math.max(pollMs, tookMs * REST), ceiling);
      const backedOff = Math.min(pollMs * 2 ** Math.min(failures, 10), ceiling);
      return Math.max(pollMs, Math.round(backedOff * (0.5 + random() / 2)));
    },
    answered(took) {
      failures = 0;
      tookMs = took;
    },
    failed() {
      failures++;
    },
  };
}
