import type { Findings, Note, Translator } from "../../src/domain/translator.ts";
import { endBlock, readBlock, readFault } from "./openfoam-faults.ts";
import { forgetBegun, readBanner, readBox, readEnd, readMessage, readPartial } from "./openfoam-program.ts";
import {
  readBounding,
  readContinuity,
  readConverged,
  readInnerLoop,
  readMinMax,
  readVolumeFraction,
} from "./openfoam-quantities.ts";
import { readRest, readSolve } from "./openfoam-solve.ts";
import { type FoamState, type Fold, isFiniteValue, isFoamState, startState } from "./openfoam-state.ts";
import { readCourant, readDeltaT, readExecution, readTime } from "./openfoam-step.ts";

/** OpenFOAM's solvers and tools, of both lines of releases, and programs that print in their shapes. */
export const openfoamTranslator: Translator = {
  name: "openfoam",
  detect,
  start: startState,
  step(given, line) {
    const state = isFoamState(given) ? given : startState({ total: null, unit: null });
    const notes: Note[] = [];
    const text = withoutRank(line.text);
    const fold = { state, notes };
    if (line.partial) {
      if (!readBlock(fold, text)) readPartial(fold, text);
      endBlock(fold);
    } else if (!line.truncated) {
      readLine(fold, text);
    }
    return { state, notes };
  },
  findings: (state) => findingsOf(isFoamState(state) ? state : startState({ total: null, unit: null })),
};

const SURE =
  /^--> FOAM (FATAL|Warning|IOWarning)|^\| ========= {2}|^ExecutionTime = \S+ s {1,2}ClockTime = \S+ s|^(\S+ +)?\w+: {1,3}Solving for [^,\s]+, Initia|^Build +: .*OPENFOAM=/;

function detect(head: readonly string[]): number {
  const lines = head.map(withoutRank);
  if (lines.some((line) => SURE.test(line))) return 0.95;
  const hasBanner =
    lines.some((line) => /^Build +: /.test(line)) && lines.some((line) => /^Exec +: /.test(line));
  if (hasBanner) return 0.9;
  return lines.some((line) => /^Time = \S+$/.test(line)) ? 0.3 : 0;
}

/** Ranks mark their lines `[1] `, and mpirun those of all `[1,0]<stdout>:`. */
function withoutRank(text: string): string {
  if (!text.startsWith("[")) return text;
  return text.replace(/^\[\d+(?:,\d+)?\](?:<std(?:out|err)>:)? ?(?=[^ ]|$)/, "");
}

function readLine(fold: Fold, text: string): void {
  if (fold.state.held !== null && readRest(fold, text)) return;
  if (fold.state.block !== null && readBlock(fold, text)) return;
  if (text.length === 0) return;
  if (text.includes(": ") && text.includes("Solving for ")) {
    readSolve(fold, text);
    return;
  }
  if (!readFrequent(fold, text)) readRare(fold, text);
}

/** Lines that come with every step, by their beginning. */
function readFrequent(fold: Fold, text: string): boolean {
  if (text.startsWith("time step cont") || text.includes(" time step cont")) readContinuity(fold, text);
  else if (text.startsWith("Time = ") || text.startsWith("Iteration: ")) readTime(fold, text);
  else if (text.startsWith("ExecutionTime = ")) readExecution(fold, text);
  else if (text.includes("Number")) return readCourant(fold, text);
  else if (text.startsWith("deltaT = ")) readDeltaT(fold, text);
  else if (text.startsWith("PIMPLE: ")) readInnerLoop(fold, text);
  else if (text.includes(" volume fraction = ")) readVolumeFraction(fold, text);
  else if (text.includes("in/max")) readMinMax(fold, text);
  else if (text.startsWith("bounding ")) readBounding(fold, text);
  else return false;
  return true;
}

function readRare(fold: Fold, text: string): void {
  if (text === "End") readEnd(fold);
  else if (text.startsWith("@@@ TRUNCATED BY COLLECTOR")) forgetBegun(fold);
  else if (text.includes(" solution converged in ")) readConverged(fold, text);
  else if (text.includes("| Version:")) readBox(fold, text);
  else if (!readFault(fold, text) && !readBanner(fold, text)) readMessage(fold, text);
}

function findingsOf(state: FoamState): Findings {
  const { fatal, diverged, steps, lastTime, metrics, segments, warnings } = state;
  const [unbounded] = Object.values(state.unbounded);
  return {
    solver: "openfoam",
    fatal,
    diverged: diverged ?? unbounded ?? null,
    endMarker: endMarkerOf(state),
    converged: state.converged,
    stoppedByRequest: state.stopped,
    steps,
    finalTime: lastTime,
    residuals: residualsOf(state),
    metrics: { ...metrics },
    segments,
    warnings,
  };
}

/** Some tools (transformPoints) print no `End`: only of a program with steps is it missed. */
function endMarkerOf({ hasEnded, inLoop, steps, phase, program }: FoamState): boolean | null {
  if (hasEnded) return true;
  const isSolver = inLoop || steps > 0 || phase !== "none" || program === null;
  return isSolver || /Foam$|^foam(Multi)?Run$/.test(program) ? false : null;
}

/** Of the last complete step; of the whole when the program knows no steps. */
function residualsOf(state: FoamState): Findings["residuals"] {
  const hasNoSteps = state.steps === 0 && state.phase === "none";
  const table = state.phase === "closed" || hasNoSteps ? state.now : state.last;
  return Object.entries(table).flatMap(([key, [initial, final]]) => {
    if (!isFiniteValue(initial) || !isFiniteValue(final)) return [];
    const [field = key, region = null] = key.split("/").reverse();
    return [{ field, region, initial, final }];
  });
}
