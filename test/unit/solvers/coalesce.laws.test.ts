import fc from "fast-check";
import { expect, test } from "vitest";
import { costOf, isWithin, TASK_BUDGET } from "../../../adapters/solvers/budget.ts";
import type { EventDraft } from "../../../src/domain/event.ts";
import type { Json } from "../../../src/domain/json.ts";
import { anyTimedNotes, coalesced, residual, type TimedNote } from "../../support/notes.ts";

function countOf({ payload }: EventDraft): number {
  return typeof payload["count"] === "number" ? payload["count"] : 1;
}

function valuesOf(
  events: readonly { payload: EventDraft["payload"] }[],
  field: string,
  names: readonly string[],
) {
  return events
    .filter(({ payload }) => payload["field"] === field)
    .flatMap(({ payload }) => names.map((name) => payload[name]))
    .filter((value): value is number => typeof value === "number");
}

test("the counts of the events add up to the notes that went in", () => {
  fc.assert(
    fc.property(anyTimedNotes(), (notes) => {
      expect(coalesced(notes).reduce((sum, event) => sum + countOf(event), 0)).toBe(notes.length);
    }),
  );
});

test("first, last, lowest and highest value of every series can be read off the events", () => {
  fc.assert(
    fc.property(anyTimedNotes(), (notes) => {
      const events = coalesced(notes);
      for (const field of ["Ux", "Uy", "p"]) {
        const told = events.filter(({ payload }) => payload["field"] === field);
        const went = notes.map(({ note }) => note).filter(({ payload }) => payload["field"] === field);
        const first: Json | undefined = told[0]?.payload["first"] ?? told[0]?.payload["value"];
        expect(first).toEqual(went[0]?.payload["value"]);
        expect(told.at(-1)?.payload["value"]).toEqual(went.at(-1)?.payload["value"]);
        const [values, ends] = [
          valuesOf(went, field, ["value"]),
          valuesOf(told, field, ["value", "min", "max"]),
        ];
        expect(Math.min(...ends)).toBe(Math.min(...values));
        expect(Math.max(...ends)).toBe(Math.max(...values));
      }
    }),
  );
});

test("notes that are never dropped are all there, in order, and every warning code is told with its first text", () => {
  fc.assert(
    fc.property(anyTimedNotes(), (notes) => {
      const events = coalesced(notes);
      const kept = (all: readonly EventDraft[]) => all.filter(({ type }) => type === "solver.converged");
      expect(kept(events)).toEqual(kept(notes.map(({ note }) => note)));
      const codes = (all: readonly EventDraft[]) => [
        ...new Set(all.filter(({ type }) => type === "solver.warning").map(({ payload }) => payload["code"])),
      ];
      expect(codes(events)).toEqual(codes(notes.map(({ note }) => note)));
    }),
  );
});

test("events come in the order of the newest notes that they stand for", () => {
  fc.assert(
    fc.property(anyTimedNotes(), (notes) => {
      const places = coalesced(notes).map(({ payload }) => Number(payload["n"]));
      expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
    }),
  );
});

test("a step and its residuals come together, however fast the steps are", () => {
  const step = (index: number): TimedNote[] =>
    [
      residual(["Ux", index]),
      residual(["p", index]),
      { type: "solver.timestep", payload: { index }, series: "timestep" },
    ].map((note) => ({ note, atMs: 1_000 + index }));
  const events = coalesced(Array.from({ length: 2_000 }, (_, index) => step(index)).flat());
  const sets = Array.from({ length: events.length / 3 }, (_, set) => events.slice(set * 3, set * 3 + 3));
  for (const [ux, p, timestep] of sets.slice(0, -1)) {
    expect([ux?.payload["field"], p?.payload["field"]]).toEqual(["Ux", "p"]);
    expect(p?.payload["value"]).toBe(timestep?.payload["index"]);
  }
});

test("when notes that are never dropped come by the ten thousand, they are counted, and the budget holds", () => {
  const notes = Array.from({ length: 30_000 }, (_, n): TimedNote => {
    const payload = n % 2 === 0 ? { scope: "run", n } : { code: `code ${n % 200}`, text: "x".repeat(100), n };
    return { note: { type: n % 2 === 0 ? "solver.converged" : "solver.warning", payload }, atMs: 1_000 + n };
  });
  const events = coalesced(notes);
  expect(isWithin(costOf(events), TASK_BUDGET)).toBe(true);
  expect(events.reduce((sum, event) => sum + countOf(event), 0)).toBe(notes.length);
});

test("series without end are counted once there are more than can be followed, and that is said once", () => {
  const notes = Array.from({ length: 30_000 }, (_, index): TimedNote => {
    const note = { type: "solver.metric", payload: { name: `m${index}`, value: 1 }, series: `m${index}` };
    return { note, atMs: 1_000 + index };
  });
  const events = coalesced(notes);
  expect(isWithin(costOf(events), TASK_BUDGET)).toBe(true);
  expect(events.filter(({ payload }) => payload["code"] === "too_many_series")).toHaveLength(1);
  const metrics = events.filter(({ type }) => type === "solver.metric");
  expect(metrics.reduce((sum, event) => sum + countOf(event), 0)).toBe(notes.length);
});

test("stopped anywhere, kept as JSON and gone on with, the events are the same", () => {
  fc.assert(
    fc.property(anyTimedNotes(), fc.array(fc.nat({ max: 400 })), (notes, stops) => {
      expect(coalesced(notes, new Set(stops))).toEqual(coalesced(notes));
    }),
  );
});

/** `fields` values each `everyMs`, for so many times. */
function run(times: number, everyMs: number, fields = 8): TimedNote[] {
  return Array.from({ length: times * fields }, (_, index) => ({
    note: residual([`f${index % fields}`, 1 / (index + 1)]),
    atMs: 1_000 + Math.floor(index / fields) * everyMs,
  }));
}

const HOUR_MS = 3_600_000;

test.each([
  ["a burst in no time", 40_000, 0],
  ["a thousand steps a second", 200_000, 1],
  ["two hours of twenty steps a second", 144_000, 50],
  ["a week", 100_000, (7 * 24 * HOUR_MS) / 100_000],
  ["a year", 100_000, (365 * 24 * HOUR_MS) / 100_000],
])("%s stays within the budget and is told to its end", (_, times, everyMs) => {
  const notes = run(times, everyMs);
  const events = coalesced(notes);
  expect(isWithin(costOf(events), TASK_BUDGET)).toBe(true);
  expect(events.at(-1)?.payload["value"]).toBe(notes.at(-1)?.note.payload["value"]);
  expect(events.reduce((sum, event) => sum + countOf(event), 0)).toBe(notes.length);
  const quarters = events.length / 8;
  expect(quarters).toBeGreaterThan(100);
});
