import {
  type Fold,
  isFiniteValue,
  noteDiverged,
  numberOf,
  putBounded,
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

const MAX_FIELDS = 64;
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
  else if (BEGUN.test(text) && text.length <= MAX_HELD) state.held = text;
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
  const before = Object.hasOwn(state.now, key) ? state.now[key] : undefined;
  const corrector = before?.solves ?? 0;
  if (before === undefined) putBounded(state.now, { key, value: { initial, final, solves: 1 } }, MAX_FIELDS);
  else before.solves += 1;
  const step = state.phase === "open" ? state.steps + 1 : state.phase === "closed" ? state.steps : null;
  notes.push({
    type: "solver.residual",
    payload: {
      field,
      value: initial,
      final,
      iterations,
      ...(region === null ? {} : { region }),
      corrector,
      ...(residual.solver === null ? {} : { linearSolver: residual.solver }),
      ...(step === null || state.time === null ? {} : { step, time: timeValue(state, state.time) }),
      scale: "linear",
      norm: "initial",
    },
    series: `residual/${region ?? ""}/${field}/${corrector}`,
  });
  const bad = isFiniteValue(initial) ? final : initial;
  if (isFiniteValue(bad)) return;
  const text = `residual of ${key} is ${bad.nonfinite}`;
  noteDiverged(fold, { reason: bad.nonfinite === "nan" ? "nan" : "inf", text, field, value: bad });
}
