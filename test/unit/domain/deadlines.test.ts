import fc from "fast-check";
import { expect, test } from "vitest";
import { dueExtension, initialTtl, outputTtl } from "../../../src/domain/deadlines.ts";
import { freshRecord, T0 } from "../../support/records.ts";

const spans = fc.record({
  keepMs: fc.integer({ min: 1, max: 1e10 }),
  walltimeSeconds: fc.integer({ min: 1, max: 1e6 }),
});

test("a new task lives for what it keeps or twice its walltime, whichever is longer", () => {
  expect(initialTtl(T0, 60_000, 10)).toBe(T0 + 60_000);
  expect(initialTtl(T0, 60_000, 100)).toBe(T0 + 200_000);
});

test("an extension comes before half of the grant is used up, always adds, and is not due again at once", () => {
  const check = fc.property(spans, fc.integer({ min: 0, max: 1e11 }), (span, laterMs) => {
    const expiresAtMs = initialTtl(T0, span.keepMs, span.walltimeSeconds);
    const grantMs = expiresAtMs - T0;
    const record = freshRecord({ ...span, expiresAtMs });
    const extended = dueExtension(record, T0 + laterMs);
    expect(extended !== null).toBe(laterMs > grantMs / 2);
    if (extended === null) return;
    expect(extended).toBe(T0 + laterMs + grantMs);
    expect(extended).toBeGreaterThan(expiresAtMs);
    expect(dueExtension({ ...record, expiresAtMs: extended }, T0 + laterMs)).toBeNull();
  });
  fc.assert(check);
});

test("an ended task is never extended", () => {
  expect(dueExtension(freshRecord({ phase: "ended" }), T0 + 1e12)).toBeNull();
});

test("an ended task is kept for its time from the end, and never less than a moment", () => {
  expect(outputTtl(freshRecord(), T0 + 5)).toBe(T0 + 5 + 60_000);
  expect(outputTtl(freshRecord(), T0 - 1e9)).toBe(T0 + 1);
});
