import type { JsonObject } from "../../src/domain/json.ts";
import {
  type FoamState,
  type Fold,
  isFiniteValue,
  noteDiverged,
  noteMetric,
  numberOf,
  timeValue,
  type Value,
} from "./openfoam-state.ts";

const TIME = /^Time = (\S+?)s?$/;
const ITERATION = /^Iteration: (\d+)$/;
const COURANT = /^(?:Region: (\S+) )?(?:(\S+(?: \S+)?) )?(Courant|Diffusion) Number mean: (\S+) max: (\S+)/;
const MEAN_AND_MAX = /^Mean and max Courant Numbers = (\S+) (\S+)$/;
const MAX_ONLY = /^Max (\S+) Courant Number = (\S+)$/;
const EXECUTION = /^ExecutionTime = (\S+) s {1,2}ClockTime = (\S+) s/;

/** `Time = N`, .org's `Time = Ns`, and solidDisplacementFoam's `Iteration: N`. */
export function readTime(fold: Fold, text: string): void {
  const { state } = fold;
  const isIteration = text.startsWith("Iteration: ");
  const time = numberOf((isIteration ? ITERATION : TIME).exec(text)?.[1]);
  if (!isFiniteValue(time)) return;
  if (state.phase === "open") closeStep(fold, {});
  if (state.phase === "closed") state.last = state.now;
  if (isIteration) state.isSteady = true;
  state.now = {};
  state.nowBytes = 0;
  state.region = null;
  state.inner = 0;
  state.time = time;
  state.phase = "tentative";
  if (state.inLoop) beginStep(fold);
}

/**
 * A step is one for certain when the time loop was announced or something is solved in it: mesh tools print `Time = 0`
 * too, and reconstructPar every time it copies.
 */
export function beginStep(fold: Fold): void {
  const { state, notes } = fold;
  if (state.phase !== "tentative" || state.time === null) return;
  state.phase = "open";
  const isBack = state.lastTime !== null && state.time < state.lastTime;
  const isOther = state.steps > 0 && state.steppedBy !== state.program;
  if (state.restart === null && (isBack || isOther)) newSegment(state, isOther ? "banner" : "time_went_back");
  state.steppedBy = state.program;
  if (state.restart === null) return;
  const { lastTime, restart: reason, segments } = state;
  state.restart = null;
  if (lastTime === null) return;
  notes.push({
    type: "solver.restarted",
    payload: {
      from: timeValue(state, state.time),
      previousLast: timeValue(state, lastTime),
      reason,
      segment: segments - 1,
    },
  });
}

/** What an earlier start came to is no longer how the run ended. */
export function newSegment(state: FoamState, reason: "banner" | "time_went_back"): void {
  state.segments += 1;
  state.restart = reason;
  state.hasEnded = false;
  state.converged = null;
  state.fatal = null;
  state.diverged = null;
  state.stopped = false;
  state.unbounded = {};
}

/** `ExecutionTime = N s  ClockTime = N s` ends a step. */
export function readExecution(fold: Fold, text: string): void {
  const { state } = fold;
  const [, cpu, wall] = EXECUTION.exec(text) ?? [];
  if (cpu === undefined) return;
  // Newer mesh tools print it as well; without any banner there is no telling them apart.
  if (state.phase === "tentative" && state.program === null) beginStep(fold);
  if (state.phase === "open") closeStep(fold, { cpu: numberOf(cpu), wall: numberOf(wall) });
}

export function closeStep(fold: Fold, clock: { cpu?: Value | null; wall?: Value | null }): void {
  const { state, notes } = fold;
  if (state.phase !== "open" || state.time === null) return;
  state.phase = "closed";
  state.steps += 1;
  state.lastTime = state.time;
  const payload: JsonObject = { index: state.steps, time: timeValue(state, state.time), committed: true };
  if (state.dt !== null) payload["dt"] = { value: state.dt, unit: state.isSteady ? "1" : "s" };
  if (state.courant !== null) payload["courant"] = state.courant;
  if (state.inner > 0) payload["innerIterations"] = state.inner;
  if (isFiniteValue(clock.cpu ?? null)) payload["cpuSeconds"] = clock.cpu ?? null;
  if (isFiniteValue(clock.wall ?? null)) payload["wallSeconds"] = clock.wall ?? null;
  state.dt = null;
  state.courant = null;
  notes.push({ type: "solver.timestep", payload, series: "timestep" });
  notes.push({ type: "solver.progress", payload: progressOf(state, state.time), series: "progress" });
}

/** The end of the run is never in the log: without a declared total there is none. */
function progressOf(state: FoamState, time: number): JsonObject {
  const { total, steps } = state;
  const countsSteps = /^(step|iteration|iter)s?$/i.test(state.unit ?? "");
  const current = countsSteps ? steps : time;
  const unit = state.unit ?? (state.isSteady ? "iteration" : "time");
  if (total === null) return { current, unit, totalBasis: "none" };
  const fraction = total > 0 ? Math.min(1, Math.max(0, current / total)) : null;
  // A steady run may converge before.
  const bound = state.isSteady ? { totalIsUpperBound: true } : {};
  return {
    current,
    unit,
    total,
    ...(fraction === null ? {} : { fraction }),
    totalBasis: "declared",
    ...bound,
  };
}

/** Courant and diffusion numbers. Before a step's `Time =` they belong to the step that comes. */
export function readCourant(fold: Fold, text: string): boolean {
  const { state } = fold;
  const [, region, kind, quantity, mean, max] = COURANT.exec(text) ?? [];
  if (mean !== undefined) {
    const isMain = region === undefined && kind === undefined && quantity === "Courant";
    const numbers = { mean: numberOf(mean), max: numberOf(max) };
    const name = [quantity?.toLowerCase(), kind?.toLowerCase().replaceAll(" ", "_")]
      .filter(Boolean)
      .join(".");
    return noteCourant(fold, { ...numbers, name, isMain, ...(region === undefined ? {} : { region }) });
  }
  const [, meanWord, maxWord] = MEAN_AND_MAX.exec(text) ?? [];
  if (meanWord !== undefined)
    return noteCourant(fold, {
      mean: numberOf(meanWord),
      max: numberOf(maxWord),
      name: "courant",
      isMain: true,
    });
  const [, phase, number] = MAX_ONLY.exec(text) ?? [];
  if (phase === undefined) return false;
  if (state.phase === "tentative") beginStep(fold);
  return noteCourant(fold, { mean: null, max: numberOf(number), name: `courant.${phase}`, isMain: false });
}

type CourantNumbers = {
  mean: Value | null;
  max: Value | null;
  name: string;
  isMain: boolean;
  region?: string;
};

function noteCourant(fold: Fold, { mean, max, name, isMain, region }: CourantNumbers): boolean {
  if (max === null) return false;
  const place = region === undefined ? {} : { region };
  const means = mean === null ? {} : { mean };
  if (isMain && mean !== null) fold.state.courant = { mean, max };
  noteMetric(fold, { name: `${name}.max`, value: max, ...means, unit: "1", ...place });
  if (!isFiniteValue(max) && name.startsWith("courant"))
    noteDiverged(fold, { reason: max.nonfinite, text: `Courant number ${max.nonfinite}`, value: max });
  return true;
}

/** `deltaT = N` of an adjustable step. */
export function readDeltaT({ state }: Fold, text: string): void {
  const value = numberOf(/^deltaT = (\S+?)s?$/.exec(text)?.[1]);
  if (value !== null) state.dt = value;
}
