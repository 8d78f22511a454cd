/**
 * A symmetric five-point matrix on an nx × ny lattice, row-major from the lower left, and its incomplete Cholesky pivots.
 *
 * @typedef {object} Matrix
 * @property {number} nx
 * @property {number} ny
 * @property {Float64Array} diagonal
 * @property {Float64Array} west coupling to the left neighbour; 0 where there is none
 * @property {Float64Array} south coupling to the neighbour below; 0 where there is none
 * @property {Float64Array} rowSums
 * @property {Float64Array} pivots
 *
 * @typedef {object} Solve
 * @property {number} initial normalised residual of the first guess
 * @property {number} final normalised residual when the solver stopped
 * @property {number} iterations
 */

/** Share of the dropped fill-in that goes to the pivots. 1 would make the Neumann problem's last pivot zero. */
const MODIFIED = 0.97;
const MAX_ITERATIONS = 2000;

/**
 * @param {{ nx: number, ny: number, diagonal: (i: number, j: number) => number, coupling: number }} stencil
 * @returns {Matrix}
 */
export function createMatrix({ nx, ny, diagonal: diagonalAt, coupling }) {
  const size = nx * ny;
  const [diagonal, west, south, rowSums] = [0, 1, 2, 3].map(() => new Float64Array(size));
  for (let j = 0; j < ny; j++) {
    for (let i = 0; i < nx; i++) {
      const k = j * nx + i;
      diagonal[k] = diagonalAt(i, j);
      west[k] = i > 0 ? coupling : 0;
      south[k] = j > 0 ? coupling : 0;
      const neighbours = Number(i > 0) + Number(i < nx - 1) + Number(j > 0) + Number(j < ny - 1);
      rowSums[k] = diagonal[k] + neighbours * coupling;
    }
  }
  const matrix = { nx, ny, diagonal, west, south, rowSums, pivots: new Float64Array(size) };
  factorise(matrix);
  return matrix;
}

/** @param {Matrix} matrix */
function factorise({ nx, diagonal, west, south, pivots }) {
  for (let k = 0; k < pivots.length; k++) {
    let pivot = diagonal[k];
    if (west[k] !== 0) {
      const dropped = west[k] * (south[k - 1 + nx] ?? 0);
      pivot -= (west[k] ** 2 + MODIFIED * dropped) / pivots[k - 1];
    }
    if (south[k] !== 0) {
      const dropped = south[k] * west[k - nx + 1];
      pivot -= (south[k] ** 2 + MODIFIED * dropped) / pivots[k - nx];
    }
    pivots[k] = pivot > 0.1 * diagonal[k] ? pivot : diagonal[k];
  }
}

/**
 * out = A x
 *
 * @param {Matrix} matrix
 * @param {Float64Array} x
 * @param {Float64Array} out
 */
export function multiply({ nx, diagonal, west, south }, x, out) {
  out.fill(0);
  for (let k = 0; k < x.length; k++) {
    out[k] += diagonal[k] * x[k];
    if (west[k] !== 0) {
      out[k] += west[k] * x[k - 1];
      out[k - 1] += west[k] * x[k];
    }
    if (south[k] !== 0) {
      out[k] += south[k] * x[k - nx];
      out[k - nx] += south[k] * x[k];
    }
  }
}

/**
 * z = M⁻¹ r with M the incomplete factorisation.
 *
 * @param {Matrix} matrix
 * @param {Float64Array} r
 * @param {Float64Array} z
 */
function precondition({ nx, west, south, pivots }, r, z) {
  for (let k = 0; k < r.length; k++) {
    let value = r[k];
    if (west[k] !== 0) value -= west[k] * z[k - 1];
    if (south[k] !== 0) value -= south[k] * z[k - nx];
    z[k] = value / pivots[k];
  }
  for (let k = r.length - 1; k >= 0; k--) {
    if (west[k] !== 0) z[k - 1] -= (west[k] * z[k]) / pivots[k - 1];
    if (south[k] !== 0) z[k - nx] -= (south[k] * z[k]) / pivots[k - nx];
  }
}

/**
 * Solves A x = b in place by conjugate gradients, starting from the x that is handed in. Residuals are the sum of
 * |b − A x| over the sum of |A x − A x̄| + |b − A x̄| at the start, x̄ being the mean of x: 1 for a guess that knows
 * nothing, and free of the units of the equation. Stops below `tolerance`; a residual that is not finite is returned.
 *
 * @param {Matrix} matrix
 * @param {Float64Array} x
 * @param {{ b: Float64Array, tolerance: number }} problem
 * @returns {Solve}
 */
export function solve(matrix, x, { b, tolerance }) {
  const size = x.length;
  const [r, z, direction, image] = [0, 1, 2, 3].map(() => new Float64Array(size));
  multiply(matrix, x, image);
  const mean = x.reduce((sum, value) => sum + value, 0) / size;
  let scale = 0;
  for (let k = 0; k < size; k++) {
    const uniform = matrix.rowSums[k] * mean;
    scale += Math.abs(image[k] - uniform) + Math.abs(b[k] - uniform);
    r[k] = b[k] - image[k];
  }
  if (scale === 0) return { initial: 0, final: 0, iterations: 0 };
  const initial = sumOfSizes(r) / scale;
  let final = initial;
  let iterations = 0;
  let previous = 1;
  while (final > tolerance && iterations < MAX_ITERATIONS && Number.isFinite(final)) {
    precondition(matrix, r, z);
    const rz = dot(r, z);
    const beta = iterations === 0 ? 0 : rz / previous;
    for (let k = 0; k < size; k++) direction[k] = z[k] + beta * direction[k];
    multiply(matrix, direction, image);
    const length = rz / dot(direction, image);
    for (let k = 0; k < size; k++) {
      x[k] += length * direction[k];
      r[k] -= length * image[k];
    }
    previous = rz;
    final = sumOfSizes(r) / scale;
    iterations++;
  }
  return { initial, final, iterations };
}

/** @param {Float64Array} a @param {Float64Array} b */
function dot(a, b) {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
}

/** @param {Float64Array} a */
function sumOfSizes(a) {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += Math.abs(a[k]);
  return sum;
}
