import { expect, test } from "vitest";
import { etaSeconds, newPace, samplePace } from "../../../adapters/solvers/pace.ts";
import { newProgress, observeNote, observeTime, progressOf } from "../../../adapters/solvers/progress.ts";
import type { JsonObject } from "../../../src/domain/json.ts";

const NOTHING_DECLARED = { total: null, unit: null };

function progressAfter(
  notes: readonly (readonly [type: string, payload: JsonObject])[],
  by: "log" | "job" = "log",
) {
  const state = newProgress();
  for (const [type, payload] of notes) observeNote(state, { type, payload }, by);
  return state;
}

test.each([
  [
    "a count of steps",
    { current: 4200, total: 12000, unit: "iteration" },
    "iteration 4200 of 12000 · p 3.1e-4",
  ],
  ["simulated time", { current: 4.1, total: 20, unit: "s" }, "step 4200 · 4.1 of 20 s · p 3.1e-4"],
  ["time without a total", { current: 0.30000000000000004, unit: "s" }, "step 4200 · 0.3 s · p 3.1e-4"],
  ["a percentage", { current: 42, total: 100, unit: "percent" }, "step 4200 · 42 % · p 3.1e-4"],
])("the text of %s", (_, position, text) => {
  const state = progressAfter([
    ["solver.residual", { field: "p", value: 3.1e-4, corrector: 0 }],
    ["solver.timestep", { index: 4200, time: 4.1 }],
    ["solver.progress", position],
  ]);
  expect(progressOf(state, NOTHING_DECLARED).text).toBe(text);
});

test("pressure comes first, three fields are named, and a nan is called by its name", () => {
  const state = progressAfter([
    ["solver.residual", { field: "Ux", value: 1e-3 }],
    ["solver.residual", { field: "Uy", value: 0 }],
    ["solver.residual", { field: "k", value: 1 }],
    ["solver.residual", { field: "p", value: { nonfinite: "nan" } }],
    ["solver.residual", { field: "p", value: 0.5, corrector: 1 }],
  ]);
  const { text, metrics } = progressOf(state, NOTHING_DECLARED);
  expect(text).toBe("p nan, Ux 1.0e-3, Uy 0");
  expect(metrics).toEqual({ residuals: { Ux: 1e-3, Uy: 0, k: 1, p: { nonfinite: "nan" } } });
});

test("regions do not get into each other's way, and no name breaks the record", () => {
  const state = progressAfter([
    ["solver.residual", { field: "h", region: "air", value: 1 }],
    ["solver.residual", { field: "h", region: "metal", value: 2 }],
    ["solver.metric", { name: "__proto__", value: 3 }],
    ["solver.metric", { name: "constructor", value: 4 }],
  ]);
  const { metrics } = progressOf(state, NOTHING_DECLARED);
  expect(metrics).toEqual({ residuals: { "air/h": 1, "metal/h": 2 }, constructor: 4 });
});

test("what the job says of its progress counts for more than what its log says", () => {
  const state = progressAfter(
    [["solver.progress", { current: 1, total: 3, unit: "case", text: "meshing" }]],
    "job",
  );
  observeNote(state, { type: "solver.progress", payload: { current: 9, unit: "s" } }, "log");
  expect(progressOf(state, NOTHING_DECLARED)).toMatchObject({
    text: "case 1 of 3 · meshing",
    current: 1,
    total: 3,
  });
});

test("the estimate is the median rate of what was seen, and null until three stretches agree", () => {
  const pace = newPace();
  const etas: (number | null)[] = [];
  for (let second = 0; second <= 6; second += 1) {
    samplePace(pace, second * 10, second * 1000);
    etas.push(etaSeconds(pace, 1000));
  }
  expect(etas).toEqual([null, null, null, null, 100, 100, 100]);
});

test("neither a slow start, nor one stall, nor many looks between two steps spoil the estimate", () => {
  const pace = newPace();
  samplePace(pace, 0, 0);
  samplePace(pace, 1, 60_000);
  let nowMs = 60_000;
  for (let step = 2; step < 12; step += 1) {
    nowMs += step === 6 ? 30_000 : 2_000;
    for (const lookMs of [0, 200, 400]) samplePace(pace, step, nowMs + lookMs);
  }
  expect(etaSeconds(pace, 100)).toBe(200);
});

test("a run that starts again is estimated anew, and one that is through has no estimate", () => {
  const state = newProgress();
  for (let second = 0; second < 6; second += 1) {
    observeNote(
      state,
      { type: "solver.progress", payload: { current: second, total: 10, unit: "s" } },
      "log",
    );
    observeTime(state, second * 1000);
  }
  expect(progressOf(state, NOTHING_DECLARED).etaSeconds).toBe(5);
  observeNote(state, { type: "solver.progress", payload: { current: 0, total: 10, unit: "s" } }, "log");
  observeTime(state, 7_000);
  expect(progressOf(state, NOTHING_DECLARED).etaSeconds).toBeNull();
  expect(etaSeconds(newPace(), 0)).toBeNull();
});
