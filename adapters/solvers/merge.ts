import type { EventDraft } from "../../src/domain/event.ts";
import type { Json, JsonObject } from "../../src/domain/json.ts";

/** Notes of one series since the last flush: the newest, and what those before it came to. Plain JSON. */
export type Held = {
  type: string;
  payload: JsonObject;
  /** Notes merged, the newest included. */
  count: number;
  /** The first value, and the lowest and highest finite ones; null when the series has no values. */
  range: { first: Json; min: number | null; max: number | null } | null;
};

export function holdNote(type: string, payload: JsonObject): Held {
  const value = payload["value"];
  const range = value === undefined ? null : { first: value, min: lowest(payload), max: highest(payload) };
  return { type, payload, count: 1, range };
}

export function mergeNote(held: Held, type: string, payload: JsonObject): void {
  held.type = type;
  held.payload = payload;
  held.count += 1;
  const value = payload["value"];
  if (value === undefined) return;
  held.range ??= { first: value, min: null, max: null };
  held.range.min = pick(Math.min, held.range.min, lowest(payload));
  held.range.max = pick(Math.max, held.range.max, highest(payload));
}

/**
 * The newest note, with `count` (how many notes it stands for) and the `first`, `min` and `max` of their values. A note
 * that counts by itself, as a translator's warning does from the run's start, keeps its own count.
 */
export function eventOf({ type, payload, count, range }: Held): EventDraft {
  if (count === 1 || payload["count"] !== undefined) return { type, payload };
  if (range === null) return { type, payload: { ...payload, count } };
  const { first, min, max } = range;
  const ends = min === null || max === null ? {} : { min, max };
  return { type, payload: { ...payload, count, first, ...ends } };
}

/** A note may be a range of values itself. */
function lowest(payload: JsonObject): number | null {
  return finite(payload["min"]) ?? finite(payload["value"]);
}

function highest(payload: JsonObject): number | null {
  return finite(payload["max"]) ?? finite(payload["value"]);
}

function finite(value: Json | undefined): number | null {
  return typeof value === "number" ? value : null;
}

function pick(choose: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : choose(a, b);
}
