import type { JsonObject } from "../../src/domain/json.ts";
import {
  clip,
  type FoamState,
  type Fold,
  isFiniteValue,
  isPlainKey,
  noteDiverged,
  numberOf,
  type Solve,
  timeValue,
  type Value,
} from "./openfoam-state.ts";
import { beginStep } from "./openfoam-step.ts";

const TAIL =
  "Solving for ([^,\\s]+), Initial residual = (\\([^)]*\\)|[^,\\s]+), " +
  "Final residual = (\\([^)]*\\)|[^,\\s]+), No Iterations (\\d+|\\([\\d ]+\\)) *$";
/** Foundation releases since 11 put a region's name before each of its lines. */
const SOLVE = new RegExp(`^(?:([A-Za-z_][\\w.-]*) +)?([A-Za-z]\\w*): {1,3}${TAIL}`);
/** Two ranks wrote at once: what follows the second beginning is whole. */
const TORN = new RegExp(`^[A-Za-z]\\w*: {1,3}Solving for [^,\\s]+, .*: {1,3}${TAIL}`);
const BEGUN = /^[A-Za-z]\w*: {1,3}Solving for [^,\s]+,/;

const MAX_HELD = 300;

/** A linear solve. A line that a terminal has wrapped is read when the next one completes it. */
export function readSolve(fold: Fold, text: string): void {
  const { state } = fold;
  if (state.phase === "tentative") beginStep(fold);
  const whole = SOLVE.exec(text);
  if (whole !== null) {
    const [, region, solver, ...words] = whole;
    noteSolve(fold, { region: region ?? state.region, solver: solver ?? null, words });
    return;
  }
  const torn = TORN.exec(text);
  if (torn !== null) noteSolve(fold, { region: state.region, solver: null, words: torn.slice(1) });
  else if (BEGUN.test(text) && text.length <= MAX_HELD) state.held = clip(text, MAX_HELD);
}

/** True when this line completed the one that was held back. */
export function readRest(fold: Fold, text: string): boolean {
  const { state } = fold;
  const { held } = state;
  state.held = null;
  if (held === null || text.length > MAX_HELD || !SOLVE.test(held + text)) return false;
  readSolve(fold, held + text);
  return true;
}

type SolveWords = { region: string | null; solver: string | null; words: readonly (string | undefined)[] };

function noteSolve(fold: Fold, { region, solver, words }: SolveWords): void {
  const [field = "", initial = "", final = "", iterations = ""] = words;
  const fields = initial.startsWith("(") ? componentsOf(field, initial) : [field];
  const initials = wordsOf(initial);
  const finals = wordsOf(final);
  const counts = wordsOf(iterations);
  fields.forEach((name, index) => {
    const solve = {
      initial: numberOf(initials[index]),
      final: numberOf(finals[index]),
      iterations: Number(counts[index] ?? counts[0]),
    };
    if (solve.initial === null || solve.final === null) return;
    noteResidual(fold, { ...solve, initial: solve.initial, final: solve.final, field: name, region, solver });
  });
}

function wordsOf(text: string): string[] {
  return text.startsWith("(") ? text.slice(1, -1).trim().split(/\s+/) : [text];
}

function componentsOf(field: string, vector: string): string[] {
  const { length } = wordsOf(vector);
  const names = length <= 3 ? ["x", "y", "z"] : ["xx", "xy", "xz", "yy", "yz", "zz"];
  return names.slice(0, length).map((name) => field + name);
}

type Residual = {
  field: string;
  region: string | null;
  solver: string | null;
  initial: Value;
  final: Value;
  iterations: number;
};

function noteResidual(fold: Fold, residual: Residual): void {
  const { state, notes } = fold;
  const { field, region, initial, final, iterations } = residual;
  const key = region === null ? field : `${region}/${field}`;
  const corrector = countSolve(state, key, [initial, final, 1]);
  const step = state.phase === "open" ? state.steps + 1 : state.phase === "closed" ? state.steps : null;
  // Assigned one by one: spreading optional parts costs a third of the translator's speed.
  const payload: JsonObject = { field, value: initial, final, iterations, corrector };
  if (region !== null) payload["region"] = region;
  if (residual.solver !== null) payload["linearSolver"] = residual.solver;
  if (step !== null && state.time !== null) {
    payload["step"] = step;
    payload["time"] = timeValue(state, state.time);
  }
  payload["scale"] = "linear";
  payload["norm"] = "initial";
  notes.push({ type: "solver.residual", payload, series: `residual/${region ?? ""}/${field}/${corrector}` });
  const bad = isFiniteValue(initial) ? final : initial;
  if (isFiniteValue(bad)) return;
  const text = `residual of ${key} is ${bad.nonfinite}`;
  noteDiverged(fold, { reason: bad.nonfinite === "nan" ? "nan" : "inf", text, field, value: bad });
}

/** How often the field was solved before in this step. A field that has no room in the table counts as new. */
function countSolve(state: FoamState, key: string, solve: Solve): number {
  const before = Object.hasOwn(state.now, key) ? state.now[key] : undefined;
  if (before !== undefined) {
    before[2] += 1;
    return before[2] - 1;
  }
  const [initial, final] = solve;
  const bytes = key.length + shownLength(initial) + shownLength(final) + OVERHEAD_BYTES;
  if (state.nowBytes + bytes > TABLE_BYTES || !isPlainKey(key)) return 0;
  state.nowBytes += bytes;
  state.now[key] = solve;
  return 0;
}

const TABLE_BYTES = 3200;
const OVERHEAD_BYTES = 14;

function shownLength(value: Value): number {
  return typeof value === "number" ? String(value).length : 26;
}
