import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** npx and its kin pass on a Ctrl-C that the terminal has already sent to the whole group: one wish, two signals. */
const ECHO_MS = 200;

export type Stopping = {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal;
  /** Gives the signals back to their defaults. */
  release(): void;
};

/** The first signal asks for a graceful end, a second one ends the process at once. */
export function stopOnSignals(onFirst: (signal: NodeJS.Signals) => void = () => undefined): Stopping {
  const stopping = new AbortController();
  let firstAtMs = 0;
  const listener = (signal: NodeJS.Signals) => {
    if (!stopping.signal.aborted) {
      firstAtMs = performance.now();
      onFirst(signal);
      stopping.abort(signal);
    } else if (performance.now() - firstAtMs > ECHO_MS) {
      process.exit(128 + constants.signals[signal]);
    }
  };
  for (const signal of SIGNALS) process.on(signal, listener);
  return {
    signal: stopping.signal,
    release() {
      for (const signal of SIGNALS) process.off(signal, listener);
    },
  };
}

/** Resolves at the abort. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
