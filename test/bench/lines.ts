import { readFileSync } from "node:fs";
import { createPipeline } from "../../adapters/solvers/pipeline.ts";
import { type Figure, median, round } from "./report.ts";

const LOG = new URL("../fixtures/logs/openfoam/cavity_rate_4x4.log", import.meta.url);
const ROUNDS = 5;
const TARGET_LINES = 343_621;
const CHUNK_BYTES = 256 * 1024;

/**
 * Bytes to events, all of it: framing, translator, coalescer. The recorded log is repeated to the length of the whole
 * run, read as follow reads it, and the clock moves as if the run had taken its 30 s.
 */
export function benchLines(): Figure {
  const piece = readFileSync(LOG);
  const lines = countLines(piece);
  const repeats = Math.ceil(TARGET_LINES / lines);
  const log = Buffer.concat(Array.from({ length: repeats }, () => piece));
  const rates = Array.from({ length: ROUNDS }, () => {
    const pipeline = createPipeline({ solver: "openfoam", total: 1000, unit: "s", snapshot: null });
    const before = process.cpuUsage();
    let events = 0;
    for (let from = 0; from < log.length; from += CHUNK_BYTES) {
      const nowMs = Math.round((from / log.length) * 30_000);
      const bytes = log.subarray(from, from + CHUNK_BYTES);
      pipeline.feed("stdout", bytes, { nowMs, restarted: false });
      events += pipeline.take(nowMs, { final: false }).length;
    }
    if (events === 0) throw new Error("no event came out");
    const { user, system } = process.cpuUsage(before);
    return (lines * repeats) / ((user + system) / 1e6);
  });
  return {
    what: "lines per second and core, bytes to events, cavity_rate_4x4",
    value: median(rates),
    unit: "lines/s",
    bound: 100_000,
    rule: "at_least",
    detail: `median of ${ROUNDS}, best ${round(Math.max(...rates))}`,
  };
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (const byte of bytes) if (byte === 10) lines += 1;
  return lines;
}
