import type { Json, JsonObject } from "../../src/domain/json.ts";
import type { Note } from "../../src/domain/translator.ts";
import { type Nonfinite, readNumber } from "./numbers.ts";

export type Value = number | Nonfinite;

/** Initial and final residual of a field's first linear solve in a step, and how often it was solved in all. */
export type Solve = [initial: Value, final: Value, solves: number];

/**
 * What is known after the lines so far; plain JSON of at most 16 KiB. A step is `open` between its `Time =` and its end,
 * `tentative` while it may also be a mesh tool's, and `closed` until the next one begins.
 */
export type FoamState = {
  readonly kind: "openfoam/1";
  readonly total: number | null;
  readonly unit: string | null;
  banner: { version?: string; build?: string; application?: string; case?: string } | null;
  headerVersion: string | null;
  program: string | null;
  /** The program that printed the steps so far. */
  steppedBy: string | null;
  inLoop: boolean;
  isSteady: boolean;
  hasCriteria: boolean;
  hasEnded: boolean;
  converged: boolean | null;
  stopped: boolean;
  segments: number;
  restart: "banner" | "time_went_back" | null;
  steps: number;
  lastTime: number | null;
  phase: "none" | "tentative" | "open" | "closed";
  time: number | null;
  dt: Value | null;
  courant: { mean: Value; max: Value } | null;
  inner: number;
  region: string | null;
  /** By region and field: the running step's and the last complete one's. */
  now: Record<string, Solve>;
  /** About what `now` takes in JSON. */
  nowBytes: number;
  last: Record<string, Solve>;
  held: string | null;
  metrics: Record<string, Value>;
  block: { kind: "fatal" | "warning"; code: string | null; text: string; lines: number } | null;
  fatal: string | null;
  diverged: string | null;
  /** Bounded fields that are out of their bounds at the moment. */
  unbounded: Record<string, string>;
  warned: Record<string, number>;
  warnings: number;
};

/** One line's work: the state that it changes and the notes that it adds to. */
export type Fold = { readonly state: FoamState; readonly notes: Note[] };

export function startState(options: {
  readonly total: number | null;
  readonly unit: string | null;
}): FoamState {
  return {
    kind: "openfoam/1",
    total: options.total,
    unit: options.unit === null ? null : clip(options.unit, 40),
    banner: null,
    headerVersion: null,
    program: null,
    steppedBy: null,
    inLoop: false,
    isSteady: false,
    hasCriteria: false,
    hasEnded: false,
    converged: null,
    stopped: false,
    segments: 1,
    restart: null,
    steps: 0,
    lastTime: null,
    phase: "none",
    time: null,
    dt: null,
    courant: null,
    inner: 0,
    region: null,
    now: {},
    nowBytes: 0,
    last: {},
    held: null,
    metrics: {},
    block: null,
    fatal: null,
    diverged: null,
    unbounded: {},
    warned: {},
    warnings: 0,
  };
}

/** The fold's own mark: a state with it was made by `startState`. */
export function isFoamState(state: JsonObject): state is FoamState {
  return state["kind"] === "openfoam/1";
}

/** The number of a word that may have a comma or a unit's blank after it. */
export function numberOf(word: string | undefined): Value | null {
  if (word === undefined) return null;
  const quick = Number(word);
  if (quick !== 0 && Number.isFinite(quick) && !word.startsWith("0x")) return quick;
  return readNumber(word.trim());
}

export function isFiniteValue(value: Value | null): value is number {
  return typeof value === "number";
}

/** Adds to a record whose JSON may take so many bytes. A new key that has no room is left out. */
export function putBounded<T extends Json>(
  record: Record<string, T>,
  { key, value }: { key: string; value: T },
  mostBytes: number,
): void {
  const isNew = !Object.hasOwn(record, key);
  if (isNew && (!isPlainKey(key) || bytesOf(record) + bytesOf(key) + MOST_VALUE_BYTES > mostBytes)) return;
  record[key] = value;
}

/** Values in such records are numbers or short texts. */
const MOST_VALUE_BYTES = 100;

/** Printable ASCII that JSON writes as it is, and nothing that an object already has. */
export function isPlainKey(key: string): boolean {
  return key.length <= 80 && /^[!#-[\]-~]+$/.test(key) && !key.startsWith("__");
}

/** The beginning of a text that takes at most so many bytes of JSON. */
export function clip(text: string, mostBytes: number): string {
  let clipped = text.slice(0, mostBytes);
  while (bytesOf(clipped) > mostBytes) clipped = clipped.slice(0, Math.floor(clipped.length * 0.75));
  return clipped;
}

function bytesOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Seconds, or plain iteration counts where a steady solver calls them time. */
export function timeValue(state: FoamState, value: number): JsonObject {
  return { value, unit: state.isSteady ? "1" : "s" };
}

/** A quantity that is not a residual. Its last value is also among the findings. */
export function noteMetric(
  { state, notes }: Fold,
  metric: JsonObject & { name: string; value: Value },
): void {
  const region = typeof metric["region"] === "string" ? metric["region"] : "";
  const key = region === "" ? metric.name : `${region}/${metric.name}`;
  putBounded(state.metrics, { key, value: metric.value }, METRICS_BYTES);
  notes.push({ type: "solver.metric", payload: metric, series: `metric/${region}/${metric.name}` });
}

const METRICS_BYTES = 2400;

/** Said once in a run: what came later is its consequence. */
export function noteDiverged(
  { state, notes }: Fold,
  what: { reason: string; text: string; field?: string; value?: Value },
): void {
  const { reason, text, field, value } = what;
  if (state.diverged !== null || state.fatal !== null) return;
  state.diverged = clip(text, 300);
  notes.push({
    type: "solver.diverged",
    payload: {
      reason,
      fatal: true,
      ...(field === undefined ? {} : { field }),
      ...(value === undefined ? {} : { value }),
      text: state.diverged,
    },
  });
}
