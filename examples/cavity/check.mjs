import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compare, GHIA_RE_100, GHIA_VORTEX, MARCHI_EXTREMES } from "./ghia.mjs";

/**
 * Runs the solver at Re 100 (more of its options may follow, such as --grid 32) and compares it with published results.
 * Exit status: 0 every limit is met, 1 one is not, 2 the solver did not end well.
 */

/** @typedef {{ name: string, value: number, limit: number }} Line */

/** Of the lid's speed, or of a published extreme. */
const LIMIT = 0.02;

const folder = mkdtempSync(join(tmpdir(), "cavity-check-"));
try {
  const seconds = await solveIn(folder);
  process.exitCode = report(measure(folder), seconds) ? 0 : 1;
} catch (error) {
  process.stderr.write(`check: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @param {string} out */
async function solveIn(out) {
  const solver = fileURLToPath(new URL("solver.mjs", import.meta.url));
  const begin = Date.now();
  const argv = [solver, ...process.argv.slice(2), "--reynolds", "100", "--out", out];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "ignore", "inherit"] });
  const [status] = await once(child, "exit");
  if (status !== 0) throw new Error(`the solver ended with status ${status}`);
  return (Date.now() - begin) / 1000;
}

/** @param {string} out */
function measure(out) {
  const result = JSON.parse(readFileSync(join(out, "result.json"), "utf8"));
  const u = compare(readProfile(join(out, "centreline_u.csv")), GHIA_RE_100.u);
  const v = compare(readProfile(join(out, "centreline_v.csv")), GHIA_RE_100.v);
  const { x, y, streamFunction } = result.vortexCentre;
  /** @param {"uMin" | "vMin" | "vMax"} name */
  const offMarchi = (name) => Math.abs(result[name].value / MARCHI_EXTREMES[name] - 1);
  /** @type {Line[]} */
  const lines = [
    { name: "u(y) against Ghia, worst of 17, share of the lid's speed", value: u.worst.error, limit: LIMIT },
    { name: "v(x) against Ghia, worst of 17, share of the lid's speed", value: v.worst.error, limit: LIMIT },
    { name: "least u against Marchi, relative", value: offMarchi("uMin"), limit: LIMIT },
    { name: "least v against Marchi, relative", value: offMarchi("vMin"), limit: LIMIT },
    { name: "greatest v against Marchi, relative", value: offMarchi("vMax"), limit: LIMIT },
    {
      name: "vortex centre against Ghia, distance",
      value: Math.hypot(x - GHIA_VORTEX.x, y - GHIA_VORTEX.y),
      limit: LIMIT,
    },
    {
      name: "its stream function against Ghia, relative",
      value: Math.abs(streamFunction / GHIA_VORTEX.streamFunction - 1),
      limit: LIMIT,
    },
  ];
  return { result, u, v, lines };
}

/** @param {string} path @returns {[number, number][]} */
function readProfile(path) {
  const rows = readFileSync(path, "utf8").trimEnd().split("\n").slice(1);
  return rows.map((row) => {
    const [place, value] = row.split(",").map(Number);
    return [place, value];
  });
}

/** @param {ReturnType<typeof measure>} measured @param {number} seconds */
function report({ result, u, v, lines }, seconds) {
  const text = [
    `grid ${result.grid}, ${result.steps} steps to time ${result.finalTime}, ` +
      `${result.converged ? "steady" : "not steady"}, ${seconds.toFixed(1)} s`,
    ...table({ name: "   y      u Ghia    u ours     error", rows: u.rows }),
    ...table({ name: "   x      v Ghia    v ours     error", rows: v.rows }),
    "",
    ...lines.map(
      ({ name, value, limit }) =>
        `${value <= limit ? "ok  " : "FAIL"} ${name}: ${value.toFixed(5)} (limit ${limit})`,
    ),
    result.converged ? "ok   the flow became steady" : "FAIL the flow did not become steady",
  ];
  process.stdout.write(`${text.join("\n")}\n`);
  return result.converged && lines.every(({ value, limit }) => value <= limit);
}

/** @param {{ name: string, rows: import("./ghia.mjs").Row[] }} comparison */
function table({ name, rows }) {
  const shown = rows.map(({ at, ghia, ours, error }) =>
    [at.toFixed(4), ghia.toFixed(5), ours.toFixed(5), error.toFixed(5)]
      .map((text, k) => text.padStart(k === 0 ? 6 : 10))
      .join(""),
  );
  return ["", name, ...shown];
}
