import { createMatrix, multiply, solve } from "./linear.mjs";

/** @typedef {import("./linear.mjs").Matrix} Matrix */
/** @typedef {import("./linear.mjs").Solve} Solve */

/**
 * The flow in a unit square whose upper wall moves to the right at speed 1. Staggered cells (Harlow and Welch 1965):
 * u on the (n+1) × n vertical faces, v on the n × (n+1) horizontal faces, p in the n × n centres; all row-major from
 * the lower left. `uOld` and `vOld` are the velocities one step before: together the whole state of the time scheme.
 *
 * @typedef {object} Flow
 * @property {number} n cells along one side
 * @property {number} reynolds
 * @property {number} dt
 * @property {number} step steps taken
 * @property {number} cumulative sum of the global continuity errors so far
 * @property {Float64Array} u
 * @property {Float64Array} v
 * @property {Float64Array} p
 * @property {Float64Array} uOld
 * @property {Float64Array} vOld
 *
 * @typedef {object} StepReport
 * @property {{ mean: number, max: number }} courant of the velocity at the start of the step
 * @property {{ Ux: Solve, Uy: Solve, p: Solve }} solves
 * @property {{ local: number, global: number, cumulative: number }} continuity after the projection
 * @property {boolean} finite
 */

const LID = 1;
/** For the linear solves, far below what counts as steady. */
const TOLERANCE = { velocity: 1e-9, pressure: 1e-8 };

/**
 * Fluid at rest, the lid just set in motion.
 *
 * @param {{ n: number, reynolds: number, dt: number }} parameters
 * @returns {Flow}
 */
export function createFlow({ n, reynolds, dt }) {
  const [u, v, uOld, vOld] = [0, 1, 2, 3].map(() => new Float64Array(n * (n + 1)));
  return { n, reynolds, dt, step: 0, cumulative: 0, u, v, p: new Float64Array(n * n), uOld, vOld };
}

/**
 * A function that advances the flow by one step and says how it went. Rotational incremental projection (Timmermans, Minev and Van De Vosse 1996): implicit
 * diffusion and a backward difference of second order in time, advection extrapolated from two levels, and central
 * differences that neither make nor destroy kinetic energy.
 *
 * @param {Flow} flow
 * @returns {() => StepReport}
 */
export function createStepper(flow) {
  const { n, dt, reynolds } = flow;
  const perH2 = n * n;
  const nu = LID / reynolds;
  const rate = 1.5 / dt;
  // A wall half a cell away has its ghost value folded into the diagonal.
  const wall = (/** @type {number} */ index) => (index === 0 || index === n - 1 ? 1 : 0);
  const viscous = (/** @type {number} */ walls) => rate + nu * perH2 * (4 + walls);
  const coupling = -nu * perH2;
  const matrices = {
    u: createMatrix({ nx: n - 1, ny: n, diagonal: (_, j) => viscous(wall(j)), coupling }),
    v: createMatrix({ nx: n, ny: n - 1, diagonal: (i) => viscous(wall(i)), coupling }),
    p: createMatrix({ nx: n, ny: n, diagonal: (i, j) => perH2 * (4 - wall(i) - wall(j)), coupling: -perH2 }),
  };
  return () => {
    const courant = courantNumbers(flow);
    const before = { u: flow.u.slice(), v: flow.v.slice() };
    const advection = advect(n, flow.u, flow.v);
    const earlier = advect(n, flow.uOld, flow.vOld);
    /** @param {"u" | "v"} name @param {number} k @param {number} gradient */
    const source = (name, k, gradient) =>
      (4 * flow[name][k] - flow[`${name}Old`][k]) / (2 * dt) -
      (2 * advection[name][k] - earlier[name][k]) -
      gradient;
    const Ux = solveU(flow, matrices.u, (k, gradient) => source("u", k, gradient));
    const Uy = solveV(flow, matrices.v, (k, gradient) => source("v", k, gradient));
    const p = project(flow, matrices.p);
    flow.uOld.set(before.u);
    flow.vOld.set(before.v);
    flow.step += 1;
    const finite = [Ux, Uy, p].every((one) => Number.isFinite(one.initial) && Number.isFinite(one.final));
    return { courant, solves: { Ux, Uy, p }, continuity: continuityErrors(flow), finite };
  };
}

/**
 * @param {Flow} flow
 * @param {Matrix} matrix
 * @param {(k: number, gradient: number) => number} source
 */
function solveU({ n, u, p, reynolds }, matrix, source) {
  const x = new Float64Array((n - 1) * n);
  const b = new Float64Array(x.length);
  const drag = (2 * LID * n * n) / reynolds;
  for (let j = 0, k = 0; j < n; j++) {
    for (let i = 1; i < n; i++, k++) {
      const face = j * (n + 1) + i;
      x[k] = u[face];
      b[k] = source(face, (p[j * n + i] - p[j * n + i - 1]) * n) + (j === n - 1 ? drag : 0);
    }
  }
  const report = solve(matrix, x, { b, tolerance: TOLERANCE.velocity });
  for (let j = 0; j < n; j++) u.set(x.subarray(j * (n - 1), (j + 1) * (n - 1)), j * (n + 1) + 1);
  return report;
}

/**
 * @param {Flow} flow
 * @param {Matrix} matrix
 * @param {(k: number, gradient: number) => number} source
 */
function solveV({ n, v, p }, matrix, source) {
  const x = v.slice(n, n * n);
  const b = x.map((_, k) => source(k + n, (p[k + n] - p[k]) * n));
  const report = solve(matrix, x, { b, tolerance: TOLERANCE.velocity });
  v.set(x, n);
  return report;
}

/**
 * Solves for the new pressure, starting from the old one, and takes the gradient of their difference off the velocity,
 * which is free of divergence then.
 *
 * @param {Flow} flow
 * @param {Matrix} matrix
 */
function project({ n, dt, reynolds, u, v, p }, matrix) {
  const old = p.slice();
  const sources = p.map((_, k) => divergence(n, { u, v }, k % n, Math.floor(k / n)));
  const b = new Float64Array(n * n);
  multiply(matrix, p, b);
  for (let k = 0; k < b.length; k++) b[k] -= (1.5 / dt) * sources[k];
  const report = solve(matrix, p, { b, tolerance: TOLERANCE.pressure });
  const change = p.map((value, k) => value - old[k]);
  // The rotational form: without it the pressure hardly moves from step to step where viscosity is strong.
  for (let k = 0; k < p.length; k++) p[k] -= sources[k] * (LID / reynolds);
  // Only differences of p matter: its mean is held at zero.
  const mean = p.reduce((sum, value) => sum + value, 0) / p.length;
  for (let k = 0; k < p.length; k++) p[k] -= mean;
  const pace = (dt / 1.5) * n;
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) {
      const k = j * n + i;
      if (i > 0) u[j * (n + 1) + i] -= pace * (change[k] - change[k - 1]);
      if (j > 0) v[k] -= pace * (change[k] - change[k - n]);
    }
  }
  return report;
}

/**
 * Divergence of the momentum fluxes at the inner faces. Nothing flows through the walls, so that no value beyond them is
 * needed.
 *
 * @param {number} n
 * @param {Float64Array} u
 * @param {Float64Array} v
 */
function advect(n, u, v) {
  const w = n + 1;
  const out = { u: new Float64Array(u.length), v: new Float64Array(v.length) };
  for (let j = 0; j < n; j++) {
    for (let i = 1; i < n; i++) {
      const k = j * w + i;
      const east = (u[k] + u[k + 1]) ** 2;
      const west = (u[k - 1] + u[k]) ** 2;
      const north = j === n - 1 ? 0 : (u[k] + u[k + w]) * (v[(j + 1) * n + i - 1] + v[(j + 1) * n + i]);
      const south = j === 0 ? 0 : (u[k - w] + u[k]) * (v[j * n + i - 1] + v[j * n + i]);
      out.u[k] = (n / 4) * (east - west + north - south);
    }
  }
  for (let j = 1; j < n; j++) {
    for (let i = 0; i < n; i++) {
      const k = j * n + i;
      const north = (v[k] + v[k + n]) ** 2;
      const south = (v[k - n] + v[k]) ** 2;
      const east = i === n - 1 ? 0 : (v[k] + v[k + 1]) * (u[(j - 1) * w + i + 1] + u[j * w + i + 1]);
      const west = i === 0 ? 0 : (v[k - 1] + v[k]) * (u[(j - 1) * w + i] + u[j * w + i]);
      out.v[k] = (n / 4) * (east - west + north - south);
    }
  }
  return out;
}

/** @param {number} n @param {{ u: Float64Array, v: Float64Array }} velocity @param {number} i @param {number} j */
function divergence(n, { u, v }, i, j) {
  const left = j * (n + 1) + i;
  const below = j * n + i;
  return n * (u[left + 1] - u[left] + v[below + n] - v[below]);
}

/** @param {Flow} flow */
function courantNumbers({ n, dt, u, v }) {
  let sum = 0;
  let max = 0;
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) {
      const left = j * (n + 1) + i;
      const below = j * n + i;
      const faces = Math.abs(u[left]) + Math.abs(u[left + 1]) + Math.abs(v[below]) + Math.abs(v[below + n]);
      const number = 0.5 * faces * dt * n;
      sum += number;
      // A comparison would step over nan.
      max = Math.max(max, number);
    }
  }
  return { mean: sum / (n * n), max };
}

/** @param {Flow} flow */
function continuityErrors(flow) {
  const { n, dt } = flow;
  let local = 0;
  let global = 0;
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) {
      const error = (divergence(n, flow, i, j) * dt) / (n * n);
      local += Math.abs(error);
      global += error;
    }
  }
  flow.cumulative += global;
  return { local, global, cumulative: flow.cumulative };
}
