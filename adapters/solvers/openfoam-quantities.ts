import {
  clip,
  type Fold,
  isFiniteValue,
  noteDiverged,
  noteMetric,
  numberOf,
  putBounded,
} from "./openfoam-state.ts";
import { beginStep } from "./openfoam-step.ts";

const CONTINUITY =
  /^(?:([A-Za-z_][\w.-]*) +)?time step continuity errors ?(?:\((\S+)\))? ?: sum local = (\S+), global = (\S+), cumulative = (\S+)$/;
const PHASE = /^\S+ volume fraction = (\S+) +Min\((\S+)\) = (\S+) +Max\(\S+\) = (\S+)$/;
const BOUNDING = /^bounding ([^,\s]+), min: (\S+) max: (\S+)(?: average: (\S+))?$/;
const MIN_MAX =
  /^[Mm]in\/max ?\(?([\w.]+)\)? ?[:=] ?([^\s,]+),? (\S+)$|^([\w.]+) min\/max ?: ?([^\s,]+),? (\S+)$/;

/** A volume fraction further out than this is no rounding. */
const SLACK = 0.01;
const UNBOUNDED_BYTES = 500;

export function readContinuity(fold: Fold, text: string): void {
  const [, prefix, suffix, local, global, cumulative] = CONTINUITY.exec(text) ?? [];
  const value = numberOf(local);
  if (value === null) return;
  const region = prefix ?? suffix ?? fold.state.region;
  noteMetric(fold, {
    name: "continuity",
    value,
    global: numberOf(global),
    cumulative: numberOf(cumulative),
    unit: "1",
    kind: "mass_balance",
    ...(region === null ? {} : { region }),
  });
  if (!isFiniteValue(value))
    noteDiverged(fold, { reason: value.nonfinite, text: `continuity error is ${value.nonfinite}`, value });
}

/** `Phase-1 volume fraction = N  Min(alpha.water) = N  Max(alpha.water) = N` */
export function readVolumeFraction(fold: Fold, text: string): void {
  const { state, notes } = fold;
  const [, mean, field, least, most] = PHASE.exec(text) ?? [];
  const [value, min, max] = [numberOf(mean), numberOf(least), numberOf(most)];
  if (field === undefined || value === null || min === null || max === null) return;
  noteMetric(fold, { name: field, value, min, max, unit: "1", kind: "bound" });
  const bad = [value, min, max].find((one) => !isFiniteValue(one));
  if (bad !== undefined && !isFiniteValue(bad)) {
    noteDiverged(fold, { reason: bad.nonfinite, text: `${field} is ${bad.nonfinite}`, field, value: bad });
    return;
  }
  const worst = isFiniteValue(min) && min < -SLACK ? min : isFiniteValue(max) && max > 1 + SLACK ? max : null;
  if (worst === null) {
    delete state.unbounded[field];
    return;
  }
  const isNew = !Object.hasOwn(state.unbounded, field);
  putBounded(state.unbounded, { key: field, value: clip(`${field} is ${worst}`, 90) }, UNBOUNDED_BYTES);
  // Not fatal: many runs come back within their bounds; one that ends outside has diverged.
  if (isNew) {
    const payload = { reason: "unbounded", fatal: false, field, value: worst };
    notes.push({ type: "solver.diverged", payload, series: `unbounded/${field}` });
  }
}

/** `bounding k, min: N max: N average: N`: a value that the solver itself put back. */
export function readBounding(fold: Fold, text: string): void {
  const [, field, least, most, mean] = BOUNDING.exec(text) ?? [];
  const [min, max, average] = [numberOf(least), numberOf(most), numberOf(mean)];
  if (field === undefined || min === null) return;
  const means = average === null ? {} : { average };
  noteMetric(fold, {
    name: `bounding.${field}`,
    value: min,
    min,
    max,
    ...means,
    unit: "unknown",
    kind: "bound",
  });
}

/** `Min/max T:N N`, `rho min/max : N N` */
export function readMinMax(fold: Fold, text: string): void {
  const [name, least, most] = (MIN_MAX.exec(text) ?? []).slice(1).filter((word) => word !== undefined);
  const [min, max] = [numberOf(least), numberOf(most)];
  if (name === undefined || min === null || max === null) return;
  const { region } = fold.state;
  const place = region === null ? {} : { region };
  noteMetric(fold, { name, value: max, min, max, unit: "unknown", kind: "bound", ...place });
}

/** `PIMPLE: iteration n`, `PIMPLE: converged in n iterations`, `PIMPLE: not converged within n iterations` */
export function readInnerLoop(fold: Fold, text: string): void {
  const { state, notes } = fold;
  const [, word, count] = INNER.exec(text) ?? [];
  if (word === undefined) return;
  if (state.phase === "tentative") beginStep(fold);
  const iterations = Number(count);
  if (/^iteration$/i.test(word)) {
    state.inner = iterations;
    return;
  }
  const step = state.phase === "open" ? { step: state.steps + 1 } : {};
  notes.push(
    /^not/i.test(word)
      ? {
          type: "solver.not_converged",
          payload: { scope: "inner", limit: iterations, ...step },
          series: "not_converged/inner",
        }
      : {
          type: "solver.converged",
          payload: { scope: "inner", iterations, ...step },
          series: "converged/inner",
        },
  );
}

const INNER = /^[A-Z]+: (iteration|converged in|not converged within) (\d+)(?: iterations)?$/i;

const CONVERGED = /^(\S+) solution converged in (\d+) iterations$/;

/** `SIMPLE solution converged in n iterations`, whatever the algorithm is called. */
export function readConverged({ state, notes }: Fold, text: string): void {
  const [, criterion, count] = CONVERGED.exec(text) ?? [];
  if (criterion === undefined) return;
  state.converged = true;
  notes.push({
    type: "solver.converged",
    payload: { scope: "run", iterations: Number(count), criterion: criterion.slice(0, 80) },
  });
}
