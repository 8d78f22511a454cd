import type { Json, JsonObject } from "../../src/domain/json.ts";
import type { Note, Progress } from "../../src/domain/translator.ts";
import { etaSeconds, newPace, type Pace, samplePace } from "./pace.ts";

type Position = {
  current: number;
  total: number | null;
  unit: string | null;
  text: string | null;
  /** The program's own estimate. */
  etaSeconds: number | null;
};

/** The newest of everything, as plain JSON. */
export type ProgressState = {
  step: number | null;
  /** What the log says, and what the job itself said through its messages, which counts for more. */
  read: Position | null;
  told: Position | null;
  residuals: Record<string, Json>;
  metrics: Record<string, Json>;
  pace: Pace;
};

const MAX_FIELDS = 64;
const MAX_METRICS = 128;
/** Residuals that fit on a status line. */
const SHOWN_FIELDS = 3;

export function newProgress(): ProgressState {
  return { step: null, read: null, told: null, residuals: {}, metrics: {}, pace: newPace() };
}

export function observeNote(state: ProgressState, note: Note, by: "log" | "job"): void {
  const { type, payload } = note;
  switch (type) {
    case "solver.timestep":
      state.step = numberIn(payload, "index") ?? state.step;
      break;
    case "solver.progress":
      if (by === "job") state.told = positionOf(payload);
      else if (payload["scope"] === undefined || payload["scope"] === "run") state.read = positionOf(payload);
      break;
    case "solver.residual":
      observeResidual(state, payload);
      break;
    case "solver.metric":
      keep(state.metrics, { name: placed(payload, "name"), value: payload["value"] }, MAX_METRICS);
      break;
    default:
  }
}

/** Once per look at the log: what the rate is reckoned from. */
export function observeTime(state: ProgressState, nowMs: number): void {
  const position = state.told ?? state.read;
  if (position !== null) samplePace(state.pace, position.current, nowMs);
}

/** `total` and `unit` are what the tool's definition says; the log and the job know better. */
export function progressOf(
  state: ProgressState,
  declared: { readonly total: number | null; readonly unit: string | null },
): Progress {
  const position = state.told ?? state.read;
  const total = position?.total ?? declared.total;
  const unit = position?.unit ?? (position === null ? null : declared.unit);
  const current = position?.current ?? null;
  const left = current === null || total === null ? null : total - current;
  const text = statusText(state, { current, total, unit });
  const hasResiduals = Object.keys(state.residuals).length > 0;
  return {
    text,
    current,
    total: current === null ? null : total,
    unit,
    etaSeconds: (left === null ? null : etaSeconds(state.pace, left)) ?? position?.etaSeconds ?? null,
    metrics: hasResiduals ? { ...state.metrics, residuals: { ...state.residuals } } : { ...state.metrics },
  };
}

/** The first solve of a field in a step tells where the run stands; corrections come after it. */
function observeResidual(state: ProgressState, payload: JsonObject): void {
  const { corrector } = payload;
  if (typeof corrector === "number" && corrector > 0) return;
  keep(state.residuals, { name: placed(payload, "field"), value: payload["value"] }, MAX_FIELDS);
}

/** A field's or metric's name, with its region's before it. */
function placed(payload: JsonObject, member: "field" | "name"): string | null {
  const name = payload[member];
  const { region } = payload;
  if (typeof name !== "string") return null;
  return typeof region === "string" && region !== "" ? `${region}/${name}` : name;
}

function keep(
  values: Record<string, Json>,
  { name, value }: { readonly name: string | null; readonly value: Json | undefined },
  most: number,
): void {
  // Assigning to this name would not make a member.
  if (name === null || name === "__proto__" || value === undefined) return;
  if (Object.hasOwn(values, name) || Object.keys(values).length < most) values[name] = value;
}

function positionOf(payload: JsonObject): Position | null {
  const current = numberIn(payload, "current");
  if (current === null) return null;
  const { unit } = payload;
  const text = payload["text"] ?? payload["label"];
  return {
    current,
    total: numberIn(payload, "total"),
    unit: typeof unit === "string" ? unit : null,
    text: typeof text === "string" && text !== "" ? text : null,
    etaSeconds: numberIn(payload, "etaSeconds"),
  };
}

const STEP_UNITS: readonly (string | null)[] = ["step", "iteration"];

/** `step 4200 of 12000 · p 3.1e-4`, or `step 820 · 4.1 of 20 s · p 3.1e-4`. */
function statusText(
  { step, read, told, residuals }: ProgressState,
  at: { readonly current: number | null; readonly total: number | null; readonly unit: string | null },
): string | null {
  const parts: string[] = [];
  const isCounted = STEP_UNITS.includes(at.unit);
  if (step !== null && !isCounted) parts.push(`step ${step}`);
  if (at.current !== null) parts.push(positionText({ ...at, current: at.current }));
  else if (step !== null && isCounted) parts.push(`step ${step}`);
  const said = told?.text ?? read?.text ?? null;
  if (said !== null) parts.push(said);
  const fields = Object.entries(residuals).sort(([a], [b]) => Number(isPressure(b)) - Number(isPressure(a)));
  const shown = fields.slice(0, SHOWN_FIELDS).map(([field, value]) => `${field} ${shortNumber(value)}`);
  if (shown.length > 0) parts.push(shown.join(", "));
  return parts.length === 0 ? null : parts.join(" · ");
}

function positionText(at: { current: number; total: number | null; unit: string | null }): string {
  const { current, total, unit } = at;
  if (unit === "percent") return `${plain(current)} %`;
  const of = total === null ? plain(current) : `${plain(current)} of ${plain(total)}`;
  if (unit === null) return of;
  // A word comes before its number, a symbol behind it.
  return unit.length > 2 ? `${unit} ${of}` : `${of} ${unit}`;
}

function isPressure(field: string): boolean {
  return /(^|\/)p(_|$)/.test(field);
}

/** At most six digits. */
function plain(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
}

function shortNumber(value: Json): string {
  if (typeof value === "number") return value === 0 ? "0" : value.toExponential(1);
  const name =
    typeof value === "object" && value !== null && !Array.isArray(value) ? value["nonfinite"] : null;
  return typeof name === "string" ? name : "?";
}

function numberIn(payload: JsonObject, name: string): number | null {
  const value = payload[name];
  return typeof value === "number" ? value : null;
}
