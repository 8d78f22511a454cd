import { expect, test } from "vitest";
import { createAutoTranslator } from "../../../adapters/solvers/detect.ts";
import { SOLVER_NAMES, translatorFor } from "../../../adapters/solvers/translators.ts";
import { NO_FINDINGS } from "../../../src/domain/findings.ts";
import type { Translator } from "../../../src/domain/translator.ts";
import { linesOf, translate } from "../../support/solver-log.ts";

/** Repeats each line under its own name, and knows the program by a line that is its name. */
function echo(name: string, likely = 1): Translator {
  return {
    name,
    detect: (head) => (head.includes(name) ? likely : 0),
    start: () => ({}),
    step: (state, { text }) => ({ state, notes: [{ type: `${name}.line`, payload: { text } }] }),
    findings: () => ({ ...NO_FINDINGS, solver: name }),
  };
}

function told(auto: Translator, lines: readonly string[]): string[] {
  const { notes } = translate(auto, linesOf(Buffer.from(`${lines.join("\n")}\n`)));
  return notes.map(({ type, payload }) => `${type} ${String(payload["text"])}`);
}

const auto = createAutoTranslator([echo("a"), echo("b"), echo("maybe", 0.6)], echo("fallback"));

test("the fallback reads at once; the one that is chosen reads all lines again, in order", () => {
  expect(told(auto, ["one", "two", "b", "three"])).toEqual([
    "fallback.line one",
    "fallback.line two",
    "b.line one",
    "b.line two",
    "b.line b",
    "b.line three",
  ]);
});

test("what is chosen stays chosen", () => {
  expect(told(auto, ["a", "b"])).toEqual(["a.line a", "a.line b"]);
});

test("the likely one is taken when the head is over, else the fallback for good", () => {
  const many = Array.from({ length: 250 }, (_, n) => String(n));
  expect(told(auto, ["maybe", ...many]).at(-1)).toBe("maybe.line 249");
  expect(told(auto, [...many, "a", "end"]).at(-1)).toBe("fallback.line end");
});

test("its state stays small whatever the head is", () => {
  const line = '"\u{1F600}'.repeat(900);
  const { state, findings } = translate(auto, linesOf(Buffer.from(`${line}\n`.repeat(199))));
  expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThan(10_000);
  expect(findings.solver).toBe("fallback");
});

test("a program is recognised behind what a script prints first", () => {
  const preamble = Array.from(
    { length: 120 },
    (_, n) => `Loading module number ${n} of this site's long list`,
  );
  const log = [...preamble, "Build  : 11", "Exec   : foamRun", "Starting time loop", "Time = 1s"];
  const { findings } = translate(translatorFor("auto"), linesOf(Buffer.from(`${log.join("\n")}\n`)));
  expect(findings.solver).toBe("openfoam");
});

test("every name has a translator, and another name says which there are", () => {
  for (const name of SOLVER_NAMES) expect(translatorFor(name).name).toBe(name);
  expect(() => translatorFor("nastran")).toThrow(
    /there is no solver "nastran": expected one of auto, openfoam/,
  );
});
