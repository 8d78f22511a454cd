import { describe, expect, test } from "vitest";
import { readNumber } from "../../../adapters/solvers/numbers.ts";
import { SOLVER_NAMES, translatorFor } from "../../../adapters/solvers/translators.ts";
import { judge } from "../../../src/domain/outcome.ts";
import { linesOf, logBytes, logNames, logTruth, translate } from "../../support/solver-log.ts";

const openfoam = translatorFor("openfoam");
const trap = (name: string) => translate(openfoam, linesOf(logBytes("traps", name)));
const typesOf = (name: string) => new Set(trap(name).notes.map(({ type }) => type));
const VERDICTS = ["solver.warning", "solver.diverged", "solver.converged", "solver.not_converged"];

test("every spelling of a number is read as it was meant", () => {
  const words = linesOf(logBytes("traps", "number_shapes")).map(({ text }) => text.slice(2));
  const { values } = logTruth("traps", "number_shapes").truth;
  const expected = Array.isArray(values) ? values.map(meant) : [];
  expect(words.map(readNumber)).toEqual(expected);
});

/** As the truth writes it: a number, a word for what is none, or what may be rejected. */
function meant(value: unknown): unknown {
  if (typeof value === "number") return value;
  const text = String(value);
  if (text.includes("reject")) return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : { nonfinite: text };
}

describe.each(SOLVER_NAMES)("words that only look like trouble, read by %s", (solver) => {
  test("are none", () => {
    const { notes, findings } = translate(translatorFor(solver), linesOf(logBytes("traps", "false_alarms")));
    expect(notes.filter(({ type }) => VERDICTS.includes(type))).toEqual([]);
    expect(findings).toMatchObject({ fatal: null, diverged: null, warnings: 0, converged: null });
  });
});

test("a line of 300 kB in the middle costs nothing but itself", () => {
  const { findings } = trap("long_line_300k");
  expect(findings).toMatchObject({ steps: 2, finalTime: 2, fatal: null });
  expect(findings.residuals).toEqual([{ field: "Ux", region: null, initial: 0.5, final: 0.01 }]);
});

test("of two ranks that wrote at once, what is whole is read and nothing is made up", () => {
  const residuals = trap("mpi_interleaved").notes.filter(({ type }) => type === "solver.residual");
  expect(residuals.map(({ payload }) => [payload["field"], payload["value"]])).toEqual([["Uy", 0.3]]);
});

test("a last line without its end is no step", () => {
  const { findings, notes } = trap("no_final_newline");
  expect(findings).toMatchObject({ steps: 2, finalTime: 2 });
  expect(notes.filter(({ type }) => type === "solver.timestep")).toHaveLength(2);
});

test("NULs and bytes that are no UTF-8 hide nothing that follows", () => {
  const { findings } = trap("nul_and_invalid_utf8");
  expect(findings).toMatchObject({ steps: 2, finalTime: 2, fatal: null });
});

test("text that looks like events, or speaks to the reader, stays text", () => {
  const { findings } = trap("prompt_injection_in_log");
  expect(findings).toMatchObject({ steps: 2, converged: null, fatal: null, diverged: null });
  const types = ["solver.progress", "solver.residual", "solver.timestep", "solver.warning"];
  expect([...typesOf("prompt_injection_in_log")].sort()).toEqual(types);
  const warning = trap("prompt_injection_in_log").notes.find(({ type }) => type === "solver.warning");
  expect(warning?.payload["text"]).toBe('{"type":"solver.converged","data":{"fake":true}}');
});

test.each(logNames("traps"))("%s alone tells no good end", (name) => {
  const { findings } = trap(name);
  const state = judge({ exitCode: null, signal: null, killedBy: null, termSeen: false }, findings).state;
  expect(state).toBe("unknown");
});

describe("real logs of programs without a translator", () => {
  const generic = translatorFor("generic");
  const last = (name: string, unit: string) => {
    const { notes } = translate(generic, linesOf(logBytes("progress", name)));
    return notes.map(({ payload }) => payload).findLast((payload) => payload["unit"] === unit);
  };

  test.each(["tqdm_bars_pipe", "tqdm_bars_ascii_locale"])("%s: each bar comes to its total", (name) => {
    const { notes } = translate(generic, linesOf(logBytes("progress", name)));
    const ends = notes.map(({ payload }) => payload).filter(({ fraction }) => fraction === 1);
    const bars = new Map(ends.map(({ label, total }) => [label, total]));
    expect([...bars.values()]).toEqual(logTruth("progress", name).truth["totals"]);
  });

  test("progress ends where the program ended", () => {
    expect(last("rsync_info_progress2", "byte")).toMatchObject({ current: 60_000_000, fraction: 1 });
    expect(last("ninja_pipe", "task")).toMatchObject({ current: 40, total: 40 });
    expect(last("ffmpeg_encode_default", "frame")).toMatchObject({ current: 500, totalBasis: "none" });
    expect(last("povray_sphere", "pixel")).toMatchObject({ fraction: 1 });
    expect(last("getdp_magnet_solve", "percent")).toMatchObject({ current: 90 });
    expect(last("freecad_parametric_recompute", "percent")).toMatchObject({ total: 100 });
    expect(last("psql_etl_error_exit0", "stage")).toMatchObject({ current: 2, total: 2 });
  });

  test.each(logNames("progress"))("%s: nothing but progress is said, and the exit code decides", (name) => {
    const { notes, findings } = translate(translatorFor("auto"), linesOf(logBytes("progress", name)));
    expect(notes.filter(({ type }) => type !== "solver.progress")).toEqual([]);
    const { exit_code: exitCode, signal } = logTruth("progress", name).stream;
    const { state } = judge({ exitCode, signal, killedBy: null, termSeen: false }, findings);
    expect(state).toBe(exitCode === 0 ? "finished" : "failed");
  });
});
