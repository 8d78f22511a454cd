import { interpolate } from "./profiles.mjs";

/** @typedef {import("./profiles.mjs").Profile} Profile */

/**
 * U. Ghia, K. N. Ghia, C. T. Shin, "High-Re solutions for incompressible flow using the Navier-Stokes equations and a
 * multigrid method", Journal of Computational Physics 48 (1982) 387-411, tables I and II at Re 100, on 129 x 129 nodes:
 * u(y) at x = 0.5 and v(x) at y = 0.5, in units of the lid's speed.
 *
 * @type {{ u: Profile, v: Profile }}
 */
export const GHIA_RE_100 = {
  u: [
    [0, 0],
    [0.0547, -0.03717],
    [0.0625, -0.04192],
    [0.0703, -0.04775],
    [0.1016, -0.06434],
    [0.1719, -0.1015],
    [0.2813, -0.15662],
    [0.4531, -0.2109],
    [0.5, -0.20581],
    [0.6172, -0.13641],
    [0.7344, 0.00332],
    [0.8516, 0.23151],
    [0.9531, 0.68717],
    [0.9609, 0.73722],
    [0.9688, 0.78871],
    [0.9766, 0.84123],
    [1, 1],
  ],
  v: [
    [0, 0],
    [0.0625, 0.09233],
    [0.0703, 0.10091],
    [0.0781, 0.1089],
    [0.0938, 0.12317],
    [0.1563, 0.16077],
    [0.2266, 0.17507],
    [0.2344, 0.17527],
    [0.5, 0.05454],
    [0.8047, -0.24533],
    [0.8594, -0.22445],
    [0.9063, -0.16914],
    [0.9453, -0.10313],
    [0.9531, -0.08864],
    [0.9609, -0.07391],
    [0.9688, -0.05906],
    [1, 0],
  ],
};

/** Their primary vortex at Re 100, table V. */
export const GHIA_VORTEX = { x: 0.6172, y: 0.7344, streamFunction: -0.103423 };

/**
 * Extremes of the same profiles at Re 100 with the error of the grid extrapolated away: C. H. Marchi, R. Suero,
 * L. K. Araki, "The lid-driven square cavity flow: numerical solution with a 1024 x 1024 grid", Journal of the Brazilian
 * Society of Mechanical Sciences and Engineering 31 (2009) 186-198.
 */
export const MARCHI_EXTREMES = { uMin: -0.2140417, vMax: 0.1795728, vMin: -0.253803 };

/**
 * @typedef {{ at: number, ghia: number, ours: number, error: number }} Row
 * @typedef {{ rows: Row[], worst: Row }} Comparison
 */

/**
 * Our profile at Ghia's points; `error` is the difference in units of the lid's speed.
 *
 * @param {Profile} profile
 * @param {Profile} table
 * @returns {Comparison}
 */
export function compare(profile, table) {
  const rows = table.map(([at, ghia]) => {
    const ours = interpolate(profile, at);
    return { at, ghia, ours, error: Math.abs(ours - ghia) };
  });
  // A nan is the worst of all.
  const worst = rows.reduce((bad, row) => (row.error <= bad.error ? bad : row));
  return { rows, worst };
}
