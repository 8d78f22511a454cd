import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLineFramer } from "../../../adapters/solvers/lines.ts";
import { SOLVER_NAMES, translatorFor } from "../../../adapters/solvers/translators.ts";
import type { Line } from "../../../src/domain/translator.ts";
import { randomFrom } from "../../support/random.ts";
import { linesOf, logBytes, logNames, translate } from "../../support/solver-log.ts";
import {
  arrivalSizes,
  biggestState,
  noteFault,
  randomSizes,
  sayInChunks,
  sayWithStops,
} from "../../support/translator-laws.ts";

const folders = ["openfoam", "synthetic", "traps", "progress"];
const logs = folders.flatMap((folder) => logNames(folder).map((name) => ({ folder, name })));
const recorded = logs.filter(({ folder, name }) => arrivalSizes(folder, name) !== null);
const small = logs.filter(({ folder, name }) => logBytes(folder, name).length < 16_000);
const STATE_BYTES = 16_384;

/** Real lines of every log, not too many of one kind. */
const realLines = logs.flatMap(({ folder, name }) => {
  const lines = linesOf(logBytes(folder, name));
  const stride = Math.max(1, Math.floor(lines.length / 150));
  return lines.filter((_, index) => index % stride === 0 || index < 60).map(({ text }) => text);
});

function lineOf(text: string, how: Partial<Line> = {}): Line {
  return { text, source: "stdout", overwritten: false, truncated: false, partial: false, ...how };
}

describe.each(SOLVER_NAMES)("%s", (solver) => {
  const translator = translatorFor(solver);

  test.each(recorded)("says the same of $folder/$name as it arrived and as a whole", ({ folder, name }) => {
    const bytes = logBytes(folder, name);
    const whole = sayInChunks(translator, bytes, []);
    expect(sayInChunks(translator, bytes, arrivalSizes(folder, name) ?? [])).toEqual(whole);
  });

  test.each(logs)("says the same of $folder/$name in any chunks and after any stops", ({ folder, name }) => {
    const bytes = logBytes(folder, name);
    const whole = sayInChunks(translator, bytes, []);
    expect(sayInChunks(translator, bytes, randomSizes(bytes.length, 5_000))).toEqual(whole);
    const random = randomFrom(bytes.length + 1);
    const stops = Array.from({ length: 40 }, () => Math.floor(random() * bytes.length));
    expect(sayWithStops(translator, bytes, stops)).toEqual(whole);
  });

  test.each(small)("says the same of $folder/$name byte by byte", ({ folder, name }) => {
    const bytes = logBytes(folder, name);
    const whole = sayInChunks(translator, bytes, []);
    expect(sayInChunks(translator, bytes, new Array(bytes.length).fill(1))).toEqual(whole);
  });

  test("keeps its state within 16 KiB on every log", () => {
    for (const { folder, name } of logs) {
      const lines = linesOf(logBytes(folder, name));
      expect(biggestState(translator, lines, lines.length > 2_000 ? 37 : 1), name).toBeLessThan(STATE_BYTES);
    }
  });

  test("says nothing of a log in which every line is quoted by another program", () => {
    const quoted = realLines.map((text) => lineOf(`he wrote "${text}" (quoted)`));
    expect(translate(translator, quoted).notes.map(({ payload }) => payload)).toEqual([]);
  });

  test("takes any line: changed ones, glued ones, other bytes", () => {
    const anyLine = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.tuple(fc.constantFrom(...realLines), fc.array(anyChange(), { maxLength: 4 })),
      },
      { weight: 1, arbitrary: fc.tuple(fc.string({ unit: "binary", maxLength: 200 }), fc.constant([])) },
    );
    const anyHow = fc.record({
      overwritten: fc.boolean(),
      truncated: fc.boolean(),
      partial: fc.constant(false),
    });
    const anyLog = fc.array(fc.tuple(anyLine, anyHow), { maxLength: 80 });
    const check = (given: readonly [readonly [string, readonly Change[]], Partial<Line>][]) => {
      const lines = given.map(([[text, changes], how]) => lineOf(changes.reduce(changed, text), how));
      const { notes, findings, state } = translate(translator, lines);
      for (const note of notes) expect(noteFault(note)).toBeNull();
      expect(Number.isFinite(findings.steps)).toBe(true);
      expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThan(STATE_BYTES);
    };
    fc.assert(fc.property(anyLog, check), { numRuns: 300 });
  });

  test("keeps its state within 16 KiB when a log means harm", () => {
    expect(biggestState(translator, harmfulLines(), 50)).toBeLessThan(STATE_BYTES);
  });

  test("starts anew from a state that it cannot read", () => {
    const line = lineOf("Time = 1");
    for (const state of [{}, { kind: "other/7", steps: "many" }]) {
      expect(() => translator.findings(translator.step(state, line).state)).not.toThrow();
    }
  });
});

test("the framer carries at most 64 KiB on every log", () => {
  for (const { folder, name } of logs) {
    const bytes = logBytes(folder, name);
    const framer = createLineFramer("stdout");
    for (let at = 0; at < bytes.length; at += 4_001) {
      framer.feed(bytes.subarray(at, at + 4_001));
      expect(JSON.stringify(framer.snapshot()).length).toBeLessThan(65_536);
    }
  }
});

type Change = { readonly at: number; readonly remove: number; readonly insert: string };

function anyChange(): fc.Arbitrary<Change> {
  const inserts = [
    "",
    "nan",
    "-inf",
    "*****",
    "1e999",
    "(",
    ")",
    ": ",
    " = ",
    "[1] ",
    "é",
    "\u0000",
    "%",
    "\t",
    "-",
  ];
  return fc.record({
    at: fc.nat(120),
    remove: fc.nat(12),
    insert: fc.constantFrom(...inserts, ...realLines),
  });
}

function changed(text: string, { at, remove, insert }: Change): string {
  return `${text.slice(0, at)}${insert}${text.slice(at + remove)}`;
}

/** More fields, regions, warnings and metrics than any run has, with long names and numbers that need many digits. */
function* harmfulLines(): Generator<Line> {
  const long = (index: number) => `${"名前é".repeat(9)}${index}`;
  const ascii = (index: number) => `${"field_with_a_long_name.".repeat(2).slice(0, 40)}${index}`;
  const solve = (field: string, value: string) =>
    `smoothSolver:  Solving for ${field}, Initial residual = ${value}, Final residual = ${value}, No Iterations 3`;
  yield lineOf(`Build  : ${"b".repeat(3_000)} OPENFOAM=${"1".repeat(500)}`);
  yield lineOf(`Exec   : simpleFoam ${"-x ".repeat(2_000)}`);
  yield lineOf(`Case   : /${"é".repeat(4_000)}`);
  yield lineOf("Starting time loop");
  for (let index = 1; index <= 400; index += 1) {
    if (index % 100 === 1) yield lineOf(`Time = ${index}.123456789012345`);
    yield lineOf(`Solving for fluid region ${ascii(index % 7)}`);
    yield lineOf(solve(ascii(index), "-1.2345678901234567e-300"));
    yield lineOf(solve(long(index), "*********"));
    yield lineOf(`Max ${long(index)} Courant Number = -1.2345678901234567e-300`);
    yield lineOf(`Min/max ${ascii(index)}:-1.2345678901234567e-300 1.2345678901234567e+300`);
    yield lineOf(`Phase-1 volume fraction = 7  Min(${long(index)}) = -7.123456789012345  Max(x) = 9`);
    yield lineOf(`--> FOAM Warning : ${long(index)} ${"w".repeat(5_000)}`);
    yield lineOf(`    ${"текст ".repeat(800)}${index}`);
    if (index % 50 === 0) yield lineOf("ExecutionTime = 1.5 s  ClockTime = 2 s");
  }
  yield lineOf(`--> FOAM FATAL ERROR: ${"é".repeat(4_000)}`);
  yield lineOf("é".repeat(4_000));
}
