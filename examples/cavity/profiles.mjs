/** @typedef {import("./flow.mjs").Flow} Flow */
/** @typedef {[place: number, value: number][]} Profile in ascending order, walls included */

/**
 * u(y) at x = 0.5 and v(x) at y = 0.5. The middle is a cell face when the grid is even, else halfway between two.
 *
 * @param {Flow} flow
 * @returns {{ u: Profile, v: Profile }}
 */
export function centrelines({ n, u, v }) {
  const [low, high] = [Math.floor(n / 2), Math.ceil(n / 2)];
  const inner = Array.from({ length: n }, (_, k) => k);
  const at = (/** @type {number} */ k) => (k + 0.5) / n;
  return {
    u: [[0, 0], ...inner.map((j) => pair(at(j), (u[j * (n + 1) + low] + u[j * (n + 1) + high]) / 2)), [1, 1]],
    v: [[0, 0], ...inner.map((i) => pair(at(i), (v[low * n + i] + v[high * n + i]) / 2)), [1, 0]],
  };
}

/** @param {number} place @param {number} value @returns {[number, number]} */
function pair(place, value) {
  return [place, value];
}

/**
 * The cubic through the four points around `place`; the values themselves at the points.
 *
 * @param {Profile} profile
 * @param {number} place
 */
export function interpolate(profile, place) {
  const above = profile.findIndex(([x]) => x >= place);
  const first = Math.min(Math.max(above - 2, 0), profile.length - 4);
  const near = profile.slice(first, first + 4);
  return near.reduce((sum, [x, value], k) => {
    const others = near.filter((_, other) => other !== k);
    return sum + others.reduce((product, [other]) => (product * (place - other)) / (x - other), value);
  }, 0);
}

/**
 * The least (sign 1) or the greatest (sign −1) value, from the parabola through the extreme point and its neighbours.
 *
 * @param {Profile} profile
 * @param {1 | -1} sign
 * @returns {{ at: number, value: number }}
 */
export function extreme(profile, sign) {
  let best = 0;
  profile.forEach(([, value], k) => {
    if (sign * value < sign * profile[best][1]) best = k;
  });
  const [x, value] = profile[best];
  if (best === 0 || best === profile.length - 1) return { at: x, value };
  const [[x0, y0], [x2, y2]] = [profile[best - 1], profile[best + 1]];
  const [left, right] = [(value - y0) / (x - x0), (y2 - value) / (x2 - x)];
  const bend = (right - left) / (x2 - x0);
  if (bend === 0) return { at: x, value };
  const at = (x0 + x) / 2 - left / (2 * bend);
  return { at, value: value + left * (at - x) + bend * (at - x) * (at - x0) };
}

/**
 * Where the stream function (0 at the walls, dψ/dy = u) is least: the centre of the big vortex.
 *
 * @param {Flow} flow
 * @returns {{ x: number, y: number, streamFunction: number }}
 */
export function vortexCentre({ n, u }) {
  const psi = new Float64Array((n + 1) * (n + 1));
  let best = 0;
  for (let i = 0; i <= n; i++) {
    for (let j = 0; j < n; j++) {
      const above = (j + 1) * (n + 1) + i;
      psi[above] = psi[above - n - 1] + u[above - n - 1] / n;
      if (psi[above] < psi[best]) best = above;
    }
  }
  const [row, column] = [Math.floor(best / (n + 1)), best % (n + 1)];
  const line = (/** @type {number} */ start, /** @type {number} */ pace) =>
    extreme(
      Array.from({ length: n + 1 }, (_, k) => pair(k / n, psi[start + k * pace])),
      1,
    );
  const [across, up] = [line(row * (n + 1), 1), line(column, n + 1)];
  return { x: across.at, y: up.at, streamFunction: across.value + up.value - psi[best] };
}
