import { NO_FINDINGS } from "../../src/domain/findings.ts";
import type { Json, JsonObject } from "../../src/domain/json.ts";
import type { Note, Translator } from "../../src/domain/translator.ts";
import { findShape } from "./generic-shapes.ts";
import { readNumber } from "./numbers.ts";

/** Longer lines are data, not progress. */
const MAX_PROGRESS_LENGTH = 400;

/**
 * For programs that we have no translator for: progress where a line says so in one of the shapes that programs use for
 * nothing else. It never judges: words such as "error" or "converged" mean nothing until it is known who wrote them.
 */
export const generic: Translator = {
  name: "generic",
  detect: () => 0,
  start: ({ total, unit }) => ({ total, unit: unit === null ? null : singular(unit) }),
  step: (state, line) => {
    if (line.partial || line.truncated || !mayBeProgress(line.text)) return { state, notes: [] };
    const note = progressNote(withoutPrefix(line.text), line.overwritten, state);
    return { state, notes: note === null ? [] : [note] };
  },
  findings: () => NO_FINDINGS,
};

function mayBeProgress(text: string): boolean {
  return text.length <= MAX_PROGRESS_LENGTH && /\d/.test(text);
}

/** Loggers' time and level, which say nothing about how far the program is. */
const PREFIX =
  /^(?:\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?:?\s+)?(?:(?:-\s+)?\[?(?:DEBUG|INFO|NOTICE|WARN(?:ING)?)\]?:?\s+(?:-\s+)?)?/;

function withoutPrefix(text: string): string {
  const length = PREFIX.exec(text)?.[0].length ?? 0;
  return length === 0 ? text : text.slice(length);
}

function progressNote(text: string, isOverwritten: boolean, declared: JsonObject): Note | null {
  const found = findShape(text, isOverwritten);
  if (found === null) return null;
  const { label, kind, eta } = found.groups;
  if (found.shape.overwrittenOnly === true && USAGE.test(label ?? "")) return null;
  const amount = amountOf(found.groups, found.shape.unit, declared);
  if (amount === null) return null;
  const whose = label?.trim() ?? "";
  const seconds = secondsOf(eta);
  const payload: JsonObject = {
    ...amount,
    ...(whose === "" ? {} : { label: whose }),
    ...(seconds === null ? {} : { etaSeconds: seconds }),
  };
  return { type: "solver.progress", payload, series: seriesOf(whose === "" ? kind : whose) };
}

/** A percentage of these is no progress. */
const USAGE = /\b(?:cpu|gpu|mem|memory|ram|swap|disk|usage|used|utili[sz]ation)\b/i;

function seriesOf(whose: string | undefined): string {
  if (whose === undefined) return "progress";
  // Digits in a label count something (`Epoch 3`): they must not open a new series each time.
  return `progress/${singular(whose)
    .replace(/[\d.]+/g, "#")
    .slice(0, 40)}`;
}

type Groups = Readonly<Record<string, string | undefined>>;

function amountOf(groups: Groups, shapeUnit: string, declared: JsonObject): JsonObject | null {
  const percent = groups["percent"] === undefined ? null : Number(groups["percent"]);
  if (percent !== null && percent > 100) return null;
  const unit = unitOf(groups, shapeUnit);
  const current = scaled(groups["n"]);
  if (current === null) {
    if (percent === null) return null;
    return { current: percent, unit: "percent", total: 100, fraction: percent / 100, totalBasis: "log" };
  }
  const said = scaled(groups["total"]);
  // Some count past their own total: then it is none.
  if (said !== null && said > 0) return { current, unit, ...totalOf(current, said, "log") };
  if (percent !== null) return { current, unit, fraction: percent / 100, totalBasis: "log" };
  return { current, unit, ...totalOf(current, declaredTotal(unit, declared), "declared") };
}

function totalOf(current: number, total: number | null, totalBasis: string): Record<string, Json> {
  if (total === null || current > total) return { totalBasis: "none" };
  return { total, fraction: current / total, totalBasis };
}

function declaredTotal(unit: string, declared: JsonObject): number | null {
  const { total, unit: declaredUnit } = declared;
  if (typeof total !== "number" || total <= 0) return null;
  return declaredUnit === null || declaredUnit === unit ? total : null;
}

function unitOf({ kind, unit }: Groups, shapeUnit: string): string {
  if (kind !== undefined) return singular(kind);
  if (unit === undefined || unit === "") return shapeUnit === "" ? "step" : shapeUnit;
  // A rate's unit: `64.2row/s`, or `1.20s/it` when it is slow.
  const [above = "", below = ""] = unit.split("/");
  return singular(above === "s" && below !== "" ? below : above);
}

const UNIT_NAMES: Readonly<Record<string, string>> = {
  it: "iteration",
  iter: "iteration",
  b: "byte",
  kb: "kilobyte",
  kib: "kibibyte",
  mb: "megabyte",
  mib: "mebibyte",
  gb: "gigabyte",
  gib: "gibibyte",
  pass: "pass",
  timestep: "step",
  "time step": "step",
};

function singular(unit: string): string {
  const word = unit.toLowerCase();
  const one = UNIT_NAMES[word];
  return one ?? (word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word);
}

const SCALES: Readonly<Record<string, number>> = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };

function scaled(word: string | undefined): number | null {
  if (word === undefined) return null;
  const scale = SCALES[word.slice(-1)];
  const value = readNumber((scale === undefined ? word : word.slice(0, -1)).replaceAll(",", ""));
  return typeof value === "number" ? value * (scale ?? 1) : null;
}

/** `12`, `1:30` or `2:00:05` in seconds. */
function secondsOf(text: string | undefined): number | null {
  if (text === undefined || text === "?") return null;
  return text.split(":").reduce((seconds, part) => seconds * 60 + Number(part), 0);
}
