import fc from "fast-check";
import { createCoalescer, newCoalescerState } from "../../adapters/solvers/coalesce.ts";
import type { EventDraft } from "../../src/domain/event.ts";
import type { Note } from "../../src/domain/translator.ts";

/** Without the negative zero, which JSON does not know: the events of a run that was kept as JSON would differ by it. */
const values = fc.double({ noNaN: true }).map((value) => value + 0);

export type TimedNote = { readonly note: Note; readonly atMs: number };

/** Residuals of a few fields, steps, warnings and notes that are never dropped, at a pace that changes; `n` counts them. */
export function anyTimedNotes(most = 400): fc.Arbitrary<TimedNote[]> {
  const note = fc.oneof(
    {
      weight: 12,
      arbitrary: fc.tuple(fc.constantFrom("Ux", "Uy", "p"), values).map(residual),
    },
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 9_999 }).map(timestep) },
    { weight: 1, arbitrary: fc.constantFrom("a", "b", "c").map(warning) },
    {
      weight: 1,
      arbitrary: fc.nat().map((index) => ({ type: "solver.converged", payload: { scope: "run", index } })),
    },
  );
  const gap = fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.nat({ max: 5_000 }) },
  );
  return fc.array(fc.tuple(note, gap), { maxLength: most }).map((steps) => {
    let atMs = 1_000;
    return steps.map(([one, gapMs], n) => {
      atMs += gapMs;
      return { note: { ...one, payload: { ...one.payload, n } }, atMs };
    });
  });
}

export function residual([field, value]: readonly [string, number]): Note {
  return { type: "solver.residual", payload: { field, value: finite(value) }, series: `residual//${field}` };
}

function finite(value: number) {
  return Number.isFinite(value) ? value : { nonfinite: value > 0 ? "inf" : "-inf" };
}

function timestep(index: number): Note {
  return { type: "solver.timestep", payload: { index, time: index / 100 }, series: "timestep" };
}

function warning(code: string): Note {
  return { type: "solver.warning", payload: { code, text: `warning ${code}` } };
}

/** As the follower does: the notes of one moment, then what is due; at the end all that is held. */
export function coalesced(
  notes: readonly TimedNote[],
  resumeAt: ReadonlySet<number> = new Set(),
): EventDraft[] {
  let coalescer = createCoalescer(newCoalescerState());
  const events: EventDraft[] = [];
  for (const [index, { note, atMs }] of notes.entries()) {
    coalescer.add(note, atMs);
    if (notes[index + 1]?.atMs === atMs) continue;
    events.push(...coalescer.take(atMs, { final: false }));
    if (resumeAt.has(index)) coalescer = createCoalescer(JSON.parse(JSON.stringify(coalescer.snapshot())));
  }
  events.push(...coalescer.take((notes.at(-1)?.atMs ?? 0) + 1, { final: true }));
  return events;
}
