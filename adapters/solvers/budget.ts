import type { EventDraft } from "../../src/domain/event.ts";

/** Of one kind of event, so far. Bytes are those of the stored text. */
export type Amount = { events: number; bytes: number };

/** What one task's events may come to. Nothing is ever trimmed, so this is what a store must hold. */
export const TASK_BUDGET: Readonly<Amount> = { events: 20_000, bytes: 8 * 1024 * 1024 };

/**
 * How the budget is shared out. `series`: merged per window. `kept`: never dropped. `closing`: the last values of every
 * series and the end, so that a run which spent all it had still tells how it came out. The rest, 1,500 events and 0.8 MB,
 * is for the task's own events (lifecycle, artifacts), which do not pass here.
 */
export const SHARES = {
  series: { events: 16_000, bytes: 6_600_000 },
  kept: { events: 1_900, bytes: 750_000 },
  closing: { events: 600, bytes: 240_000 },
} as const satisfies Record<string, Readonly<Amount>>;
export type Share = keyof typeof SHARES;

export type Spent = Record<Share, Amount>;

export function nothingSpent(): Spent {
  return {
    series: { events: 0, bytes: 0 },
    kept: { events: 0, bytes: 0 },
    closing: { events: 0, bytes: 0 },
  };
}

export function left(spent: Spent, share: Share): Amount {
  const { events, bytes } = SHARES[share];
  return { events: events - spent[share].events, bytes: bytes - spent[share].bytes };
}

/** True when `parts` times the cost is within the limit. */
export function isWithin(cost: Amount, limit: Amount, parts = 1): boolean {
  return cost.events * parts <= limit.events && cost.bytes * parts <= limit.bytes;
}

/** For the vendor prefix, member names and separators around an event's own text. */
const ENVELOPE_BYTES = 64;

export function costOf(events: readonly EventDraft[]): Amount {
  let bytes = 0;
  for (const { type, payload } of events) {
    bytes += ENVELOPE_BYTES + type.length + Buffer.byteLength(JSON.stringify(payload));
  }
  return { events: events.length, bytes };
}

const SHORTEST_WINDOW_MS = 100;
/** A run is thought to last up to this long; longer ones are only told more sparsely. */
const HORIZON_MS = 30 * 86_400_000;

/**
 * How long to merge after a flush: 100 ms doubled as often as it takes. Each doubling of a run's age gets an equal part of
 * what is left, so that a run of any length is told from end to end, densest at its start.
 *
 * `typical` is what one flush costs, `ageMs` how long the run has lasted.
 */
export function windowAfter(typical: Amount, spent: Spent, ageMs: number): number {
  const rest = left(spent, "series");
  const flushes = Math.max(
    Math.min(rest.events / Math.max(typical.events, 1), rest.bytes / Math.max(typical.bytes, 1)),
    1,
  );
  const age = Math.max(ageMs, 1);
  const wantedMs = (age * Math.max(Math.log(HORIZON_MS / age), 1)) / flushes;
  let windowMs = SHORTEST_WINDOW_MS;
  while (windowMs < wantedMs) windowMs *= 2;
  return windowMs;
}
