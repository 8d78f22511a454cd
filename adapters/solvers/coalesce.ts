import type { EventDraft } from "../../src/domain/event.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { Note } from "../../src/domain/translator.ts";
import {
  type Amount,
  costOf,
  isWithin,
  left,
  nothingSpent,
  SHARES,
  type Share,
  type Spent,
  windowAfter,
} from "./budget.ts";
import { fitPayload } from "./fit.ts";
import { eventOf, type Held, holdNote, mergeNote } from "./merge.ts";

/** Everything a coalescer remembers, as plain JSON of at most about 64 KiB once its events were taken. */
export type CoalescerState = {
  /** Time of the first note. */
  beganMs: number | null;
  flushedMs: number | null;
  windowMs: number;
  /** What a flush costs: the newest, or three quarters of what was typical before. */
  typical: Amount;
  spent: Spent;
  /** Sets that are still told one by one at the beginning of a run. */
  burst: number;
  /** Flushes before their time, for the sake of order; one comes back with each flush in time. */
  urgent: number;
  /** Warning codes that were told. */
  codes: string[];
  isFolding: boolean;
  held: [string, Held][];
  /** Of what is held, as it was when its series were opened. */
  heldBytes: number;
  ready: EventDraft[];
};

/**
 * Notes to events, within the task's budget (its laws are the names of coalesce.laws.test.ts). A note without a series goes out at once,
 * after what is held. Notes of a series are merged per window into the newest, in the order of the newest. Warnings are
 * told at once when their code is new and merged by code afterwards. A set of series is flushed when one of them comes
 * again, so that a time step and its residuals stay together. The first sets are told one by one: a short run is told whole.
 */
export type Coalescer = {
  add(note: Note, nowMs: number): void;
  take(nowMs: number, options: { readonly final: boolean }): EventDraft[];
  /** The live state: valid until the next call. */
  snapshot(): CoalescerState;
};

const BURST_SETS = 100;
const URGENT_FLUSHES = 64;
/** A flush before its time may cost this part of what is left. */
const EARLY_PART = 64;
const MAX_HELD = 128;
const MAX_HELD_BYTES = 40_000;
const MAX_CODES = 64;
/** The series of those that did not fit. */
const FOLDED = "…";

export function newCoalescerState(): CoalescerState {
  return {
    beganMs: null,
    flushedMs: null,
    windowMs: 100,
    typical: { events: 1, bytes: 1 },
    spent: nothingSpent(),
    burst: BURST_SETS,
    urgent: URGENT_FLUSHES,
    codes: [],
    isFolding: false,
    held: [],
    heldBytes: 0,
    ready: [],
  };
}

type Coalescing = Omit<CoalescerState, "held"> & { held: Map<string, Held> };

export function createCoalescer(from: CoalescerState): Coalescer {
  const state: Coalescing = { ...from, held: new Map(from.held) };
  return {
    add(note, nowMs) {
      state.beganMs ??= nowMs;
      const payload = fitPayload(note.payload);
      const series = note.series ?? seriesOfKept(state, note.type, payload);
      if (series === null) addKept(state, { type: note.type, payload }, nowMs);
      else addToSeries(state, series, { type: note.type, payload }, nowMs);
    },
    take(nowMs, { final }) {
      if (final) close(state, nowMs);
      else if (state.held.size > 0 && isWindowOver(state, nowMs)) flush(state, nowMs);
      const events = state.ready;
      state.ready = [];
      return events;
    },
    snapshot: () => ({ ...state, held: [...state.held] }),
  };
}

/**
 * A note that is never dropped has no series: null. It is merged all the same when it is a warning whose code was told,
 * or when three quarters of what is kept for such notes are gone: then by its type and code.
 */
function seriesOfKept(state: Coalescing, type: string, payload: JsonObject): string | null {
  const code = payload["code"] ?? payload["scope"] ?? payload["name"];
  const key = `kept/${type}/${typeof code === "string" ? code.slice(0, 100) : ""}`;
  if (!isWithin(SHARES.kept, left(state.spent, "kept"), 1 / 4)) return key;
  if (type !== "solver.warning") return null;
  if (state.codes.includes(key)) return key;
  if (state.codes.length >= MAX_CODES) return key;
  state.codes.push(key);
  return null;
}

function addKept(state: Coalescing, event: EventDraft, nowMs: number): void {
  if (state.held.size > 0 && state.urgent > 0 && flushEarly(state, nowMs)) state.urgent -= 1;
  spend(state, "kept", [event]);
}

function addToSeries(state: Coalescing, series: string, { type, payload }: EventDraft, nowMs: number): void {
  const held = state.held.get(series);
  // A metric may come several times in a step.
  if (held === undefined || (type !== "solver.metric" && isSetDue(state, nowMs))) {
    open(state, series, { type, payload }, nowMs);
    return;
  }
  mergeNote(held, type, payload);
  // Moved to the end: what is held goes out in the order of the newest notes.
  state.held.delete(series);
  state.held.set(series, held);
}

/** A set is complete because one of its series comes again: flushes it when it is time, or still early in the run. */
function isSetDue(state: Coalescing, nowMs: number): boolean {
  if (isWindowOver(state, nowMs) && flush(state, nowMs)) return true;
  if (state.burst === 0) return false;
  const isTold = flushEarly(state, nowMs);
  state.burst = isTold ? state.burst - 1 : 0;
  return isTold;
}

function open(state: Coalescing, series: string, { type, payload }: EventDraft, nowMs: number): void {
  const held = holdNote(type, payload);
  const { bytes } = costOf([eventOf(held)]);
  const hasRoom = state.held.size < MAX_HELD && state.heldBytes + bytes <= MAX_HELD_BYTES;
  if (!hasRoom && state.held.size > 0 && !flushEarly(state, nowMs)) {
    fold(state, nowMs);
    return;
  }
  state.held.set(series, held);
  state.heldBytes += bytes;
}

/** More series at once than can be held: the rest is counted. */
function fold(state: Coalescing, nowMs: number): void {
  if (!state.isFolding) {
    state.isFolding = true;
    const text = "more series at once than are followed one by one; the rest is only counted";
    addKept(state, { type: "solver.warning", payload: { code: "too_many_series", text } }, nowMs);
  }
  const payload = { name: FOLDED, value: 1, unit: "1" };
  const held = state.held.get(FOLDED);
  if (held === undefined) state.held.set(FOLDED, holdNote("solver.metric", payload));
  else mergeNote(held, "solver.metric", payload);
}

function isWindowOver({ flushedMs, windowMs }: Coalescing, nowMs: number): boolean {
  return flushedMs === null || nowMs - flushedMs >= windowMs;
}

function flushEarly(state: Coalescing, nowMs: number): boolean {
  const cost = { events: state.held.size, bytes: state.heldBytes };
  return isWithin(cost, left(state.spent, "series"), EARLY_PART) && flush(state, nowMs);
}

/** False: what is left cannot pay for it, and all stays held for twice the time. */
function flush(state: Coalescing, nowMs: number): boolean {
  const events = heldEvents(state);
  const cost = costOf(events);
  const isInTime = isWindowOver(state, nowMs);
  state.flushedMs = nowMs;
  if (!isWithin(cost, left(state.spent, "series"))) {
    state.windowMs *= 2;
    return false;
  }
  if (isInTime) state.urgent = Math.min(state.urgent + 1, URGENT_FLUSHES);
  spend(state, "series", events);
  letGo(state);
  const { typical, spent } = state;
  state.typical = {
    events: Math.max(cost.events, typical.events * 0.75),
    bytes: Math.max(cost.bytes, typical.bytes * 0.75),
  };
  state.windowMs = windowAfter(state.typical, spent, nowMs - (state.beganMs ?? nowMs));
  return true;
}

/** The newest of every series, whatever was spent before. */
function close(state: Coalescing, nowMs: number): void {
  if (flush(state, nowMs)) return;
  for (const event of heldEvents(state)) {
    if (isWithin(costOf([event]), left(state.spent, "closing"))) spend(state, "closing", [event]);
  }
  letGo(state);
}

function letGo(state: Coalescing): void {
  state.held.clear();
  state.heldBytes = 0;
}

function heldEvents(state: Coalescing): EventDraft[] {
  return [...state.held.values()].map(eventOf);
}

function spend(state: Coalescing, share: Share, events: readonly EventDraft[]): void {
  const cost = costOf(events);
  state.spent[share].events += cost.events;
  state.spent[share].bytes += cost.bytes;
  state.ready.push(...events);
}
