import type { JsonObject } from "../../src/domain/json.ts";
import { endBlock, readFault } from "./openfoam-faults.ts";
import { clip, type FoamState, type Fold, noteMetric } from "./openfoam-state.ts";
import { closeStep, newSegment } from "./openfoam-step.ts";

const BANNER = /^(Build|Exec|Case|nProcs) *: (.*)$/;

/** The banner's lines; the last that is of use is `nProcs`. */
export function readBanner(fold: Fold, text: string): boolean {
  const { state } = fold;
  const [, name, value = ""] = BANNER.exec(text) ?? [];
  if (name === undefined) return false;
  if (name === "Build") {
    beginProgram(state, value);
  } else if (state.banner !== null && name === "Exec") {
    state.banner.application = clip(value, 160);
    nameProgram(state, value.split(" ")[0] ?? value);
  } else if (state.banner !== null && name === "Case") {
    state.banner.case = clip(value, 240);
  } else if (state.banner !== null) {
    endBanner(fold, value);
  }
  return true;
}

function beginProgram(state: FoamState, build: string): void {
  state.banner = { build: clip(build, 120) };
  const version = state.headerVersion ?? versionOf(build);
  if (version !== null) state.banner.version = clip(version, 40);
  state.headerVersion = null;
  // A step that was open is not complete: its program was killed.
  if (state.phase === "closed") state.last = state.now;
  if (state.phase !== "none") Object.assign(state, { now: {}, nowBytes: 0 });
  state.phase = "none";
  Object.assign(state, { time: null, dt: null, courant: null, region: null, inLoop: false, isSteady: false });
}

/** `OPENFOAM=1912 patch=200626`, `_f3950763fe-20191219 OPENFOAM=1912`, `10-c4cf895ad8fa` */
function versionOf(build: string): string | null {
  return /OPENFOAM=v?([\w.]+)/.exec(build)?.[1] ?? /^v?(\d[\d.]*)(?=-|$)/.exec(build)?.[1] ?? null;
}

/** The same program again is a restart; another one goes on with the case. */
function nameProgram(state: FoamState, program: string): void {
  const name = clip(program, 80);
  const isRestart = name === state.steppedBy || name === state.program;
  state.program = name;
  state.hasEnded = false;
  state.hasCriteria = false;
  if (isRestart) newSegment(state, "banner");
}

/** Says that the program started once its banner is complete, or what there is of it when the run goes on. */
export function endBanner({ state, notes }: Fold, ranks: string | null): void {
  const { banner } = state;
  state.banner = null;
  if (banner === null) return;
  const payload: JsonObject = { solver: "openfoam", version: banner.version ?? "unknown", ...banner };
  if (ranks !== null && /^\d{1,7}$/.test(ranks)) payload["ranks"] = Number(ranks);
  if (state.segments > 1) payload["restartOf"] = state.segments - 2;
  notes.push({ type: "solver.started", payload });
}

/** The banner's box, before `Build`: `|  \\    /   O peration     | Version:  v2306 |` */
export function readBox({ state }: Fold, text: string): void {
  const version = /\| Version: +v?(\d[\w.-]*)/.exec(text)?.[1];
  if (version !== undefined) state.headerVersion = clip(version, 40);
}

/** `End`: the program's own word that it ran to its end. */
export function readEnd(fold: Fold): void {
  const { state, notes } = fold;
  if (state.phase === "open") closeStep(fold, {});
  state.hasEnded = true;
  if (!state.hasCriteria || state.steps === 0 || state.converged === true) return;
  state.converged = false;
  const reason = "the end came before the convergence criteria were met";
  notes.push({
    type: "solver.not_converged",
    payload: { scope: "run", limit: state.steps, iterations: state.steps, reason },
  });
}

const STOPPED = /^Stopped by SIG[A-Z0-9]+ at time |^USER REQUESTED ABORT|^sigStopAtWriteNow : /;
const CRITERIA = /^SIMPLE\w*: convergence criteria(?: found)?$/i;
const STAGE_BEGIN = /^(Refinement|Morphing|Shrinking and layer addition) phase$/;
const STAGE_END = /^(?:Mesh (refined|snapped)|(Layers added)|(Finished meshing)) in = (\S+) s\.?$/;
const STAGES: Readonly<Record<string, string>> = {
  Refinement: "refinement",
  Morphing: "snapping",
  "Shrinking and layer addition": "layers",
  refined: "refinement",
  snapped: "snapping",
  "Layers added": "layers",
  "Finished meshing": "meshing",
};

/** Whole-line messages that do not repeat with every step. */
export function readMessage(fold: Fold, text: string): void {
  const { state, notes } = fold;
  if (text === "Starting time loop") {
    endBanner(fold, null);
    state.inLoop = true;
    return;
  }
  if (CRITERIA.test(text)) state.hasCriteria = true;
  if (text.startsWith("SIMPLE")) state.isSteady = true;
  if (STOPPED.test(text)) state.stopped = true;
  const region = /^Solving for (?:fluid|solid) region (\S+)$/.exec(text)?.[1];
  if (region !== undefined) state.region = clip(region, 60);
  const [, begin] = STAGE_BEGIN.exec(text) ?? [];
  if (begin !== undefined)
    notes.push({ type: "solver.stage", payload: { name: STAGES[begin] ?? begin, state: "begin" } });
  const [, ...ended] = STAGE_END.exec(text) ?? [];
  const end = ended.slice(0, 3).find((name) => name !== undefined);
  if (end !== undefined) {
    const wallSeconds = Number(ended[3]);
    const wall = Number.isFinite(wallSeconds) ? { wallSeconds } : {};
    notes.push({ type: "solver.stage", payload: { name: STAGES[end] ?? end, state: "end", ...wall } });
  }
  readMeshVerdict(fold, text);
}

function readMeshVerdict(fold: Fold, text: string): void {
  const failed = text === "Mesh OK." ? "0" : /^Failed (\d+) mesh checks\.$/.exec(text)?.[1];
  if (failed === undefined) return;
  noteMetric(fold, { name: "mesh.failedChecks", value: Number(failed), unit: "1" });
  if (failed === "0") return;
  fold.state.warnings += 1;
  fold.notes.push({ type: "solver.warning", payload: { code: "mesh_checks", text, count: 1 } });
}

/** The collector of a log cut lines out here: what was begun before the cut has no end after it. */
export function forgetBegun(fold: Fold): void {
  const { state } = fold;
  endBlock(fold);
  if (state.phase === "closed") state.last = state.now;
  Object.assign(state, {
    phase: "none",
    now: {},
    held: null,
    dt: null,
    courant: null,
    region: null,
    inner: 0,
  });
}

/** A log's last line without its end: only what a cut cannot change is taken from it. */
export function readPartial(fold: Fold, text: string): void {
  if (text === "End") readEnd(fold);
  else readFault(fold, text);
}
