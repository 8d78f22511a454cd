/** Recent positions in time, newest last. Plain JSON. */
export type Pace = { samples: { atMs: number; current: number }[] };

const SAMPLES = 17;
const SPACING_MS = 1_000;
/** Rates that must agree before an estimate is given. */
const FEWEST_RATES = 3;

export function newPace(): Pace {
  return { samples: [] };
}

/** Takes one sample a second at most, and only of a position that moved; a position that went back begins anew. */
export function samplePace(pace: Pace, current: number, nowMs: number): void {
  const last = pace.samples.at(-1);
  if (last !== undefined && current < last.current) pace.samples = [];
  else if (last !== undefined && (current === last.current || nowMs - last.atMs < SPACING_MS)) return;
  pace.samples = [...pace.samples, { atMs: nowMs, current }].slice(-SAMPLES);
}

/**
 * Seconds for what remains at the median of the recent rates, which one slow or quick stretch does not move. Null while
 * too few are known: the first stretch is not among them, since the first steps are like no others.
 */
export function etaSeconds({ samples }: Pace, remaining: number): number | null {
  if (remaining <= 0) return null;
  const rates: number[] = [];
  for (let index = 1; index < samples.length; index += 1) {
    const [from, to] = [samples[index - 1], samples[index]];
    if (from === undefined || to === undefined) continue;
    rates.push((to.current - from.current) / (to.atMs - from.atMs));
  }
  const recent = (rates.length < SAMPLES - 1 ? rates.slice(1) : rates).sort((a, b) => a - b);
  const median = recent[Math.floor(recent.length / 2)];
  if (recent.length < FEWEST_RATES || median === undefined || !(median > 0)) return null;
  const seconds = remaining / median / 1000;
  return Number.isFinite(seconds) ? Math.round(seconds) : null;
}
