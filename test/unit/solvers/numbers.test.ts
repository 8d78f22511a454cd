import { assert, double, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { readNumber } from "../../../adapters/solvers/numbers.ts";

const nonfinite = (word: string) => ({ nonfinite: word });

describe("readNumber", () => {
  const values: readonly (readonly [string, unknown])[] = [
    ["0.000145", 0.000145],
    ["-1.", -1],
    [".5", 0.5],
    ["+3e5", 3e5],
    ["1.0D-05", 1e-5],
    ["1.0d+02", 100],
    ["1.5-128", 1.5e-128],
    ["-.302333-128", -0.302333e-128],
    ["-.302333E-02", -0.00302333],
    ["4.7e-005", 4.7e-5],
    ["1e-400", 0],
    ["1D400", nonfinite("inf")],
    ["1e400", nonfinite("inf")],
    ["-1e400", nonfinite("-inf")],
    ["********", nonfinite("overflow")],
  ];
  it.each(values)("reads %s", (word, value) => {
    expect(readNumber(word)).toEqual(value);
  });

  it.each(["nan", "NaN", "-nan", "-nan(ind)", "nan(snan)", ".nan", "1.#IND", "-1.#IND00", "1.#QNAN", "NaNQ"])(
    "reads %s as nan",
    (word) => {
      expect(readNumber(word)).toEqual(nonfinite("nan"));
    },
  );

  it.each(["inf", "+Inf", "Infinity", "INF", ".inf", "1.#INF", "1.#INF00"])("reads %s as inf", (word) => {
    expect(readNumber(word)).toEqual(nonfinite("inf"));
    expect(readNumber(`-${word.replace("+", "")}`)).toEqual(nonfinite("-inf"));
  });

  const others = [
    "",
    " ",
    "*",
    "1,234.5",
    "0,5",
    "0x1p-3",
    "0x10",
    "5e",
    "e5",
    ".",
    "-",
    "1.2.3",
    "2026-11-30",
    "1-2",
  ];
  it.each([...others, "infinite", "nano", "information", "219.870-1030.49", "1 2", "12%"])(
    "does not take %j for a number",
    (word) => {
      expect(readNumber(word)).toBeNull();
    },
  );

  it("has no negative zero, which JSON could not tell from zero", () => {
    expect(readNumber("-0.0")).toBe(0);
  });

  it("gives back every finite number", () => {
    const check = (value: number) => {
      expect(readNumber(String(value))).toBe(value === 0 ? 0 : value);
    };
    assert(property(double({ noNaN: true, noDefaultInfinity: true }), check));
  });

  it("answers for any word", () => {
    const check = (word: string) => {
      const value = readNumber(word);
      expect(value === null || typeof value === "object" || Number.isFinite(value)).toBe(true);
    };
    assert(property(string(), check));
  });
});
