import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { UsageError } from "./options.mjs";

/** @typedef {import("./flow.mjs").Flow} Flow */

const FORMAT = "tailrace-cavity-checkpoint-1";
const ARRAYS = /** @type {const} */ (["u", "v", "p", "uOld", "vOld"]);

/**
 * Whoever reads the file meets the old text or the new one, never a part.
 *
 * @param {string} path
 * @param {string} text
 */
export function writeWhole(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { flush: true });
  renameSync(temporary, path);
}

/** @param {string} folder @param {Flow} flow */
export function writeCheckpoint(folder, flow) {
  const { reynolds, n, dt, step, cumulative } = flow;
  const arrays = Object.fromEntries(ARRAYS.map((name) => [name, encode(flow[name])]));
  const state = { format: FORMAT, reynolds, grid: n, dt, step, time: step * dt, cumulative, arrays };
  writeWhole(join(folder, "checkpoint.json"), `${JSON.stringify(state)}\n`);
}

/** @param {string} path @returns {Flow} */
export function readCheckpoint(path) {
  const state = parse(path);
  const { format, reynolds, grid: n, dt, step, cumulative, arrays } = state ?? {};
  const numbers = [reynolds, n, dt, step, cumulative];
  if (format !== FORMAT || !numbers.every(Number.isFinite))
    throw new UsageError(`${path} is no checkpoint of this program (${FORMAT})`);
  const [u, v, p, uOld, vOld] = ARRAYS.map((name) => {
    const values = decode(arrays?.[name]);
    if (values?.length === (name === "p" ? n * n : n * (n + 1))) return values;
    throw new UsageError(`${path} is damaged: its array ${name} does not fit a grid of ${n}`);
  });
  return { n, reynolds, dt, step, cumulative, u, v, p, uOld, vOld };
}

/** @param {string} path */
function parse(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`cannot read the checkpoint ${path}: ${why}`, { cause: error });
  }
}

/** Little-endian doubles in base64: every bit comes back. @param {Float64Array} values */
function encode(values) {
  const buffer = Buffer.alloc(values.length * 8);
  values.forEach((value, k) => {
    buffer.writeDoubleLE(value, k * 8);
  });
  return buffer.toString("base64");
}

/** @param {unknown} text @returns {Float64Array | null} */
function decode(text) {
  if (typeof text !== "string") return null;
  const buffer = Buffer.from(text, "base64");
  return Float64Array.from({ length: Math.floor(buffer.length / 8) }, (_, k) => buffer.readDoubleLE(k * 8));
}

/**
 * fields/U.csv and fields/p.csv at the cell centres, and the two profiles through the middle.
 *
 * @param {string} folder
 * @param {Flow} flow
 * @param {{ u: [number, number][], v: [number, number][] }} profiles
 */
export function writeFields(folder, { n, u, v, p }, profiles) {
  const velocity = ["x,y,u,v"];
  const pressure = ["x,y,p"];
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) {
      const at = `${(i + 0.5) / n},${(j + 0.5) / n}`;
      const left = j * (n + 1) + i;
      const below = j * n + i;
      velocity.push(`${at},${(u[left] + u[left + 1]) / 2},${(v[below] + v[below + n]) / 2}`);
      pressure.push(`${at},${p[below]}`);
    }
  }
  writeTable(join(folder, "fields/U.csv"), velocity);
  writeTable(join(folder, "fields/p.csv"), pressure);
  writeTable(join(folder, "centreline_u.csv"), ["y,u", ...profiles.u.map((row) => row.join(","))]);
  writeTable(join(folder, "centreline_v.csv"), ["x,v", ...profiles.v.map((row) => row.join(","))]);
}

/** @param {string} path @param {string[]} lines */
function writeTable(path, lines) {
  writeWhole(path, `${lines.join("\n")}\n`);
}
