import { expect, test } from "vitest";
import { parseArguments } from "../../../src/cli/client/arguments.ts";
import { EXIT } from "../../../src/cli/exit-codes.ts";
import { CliFailure } from "../../../src/cli/failure.ts";
import type { JsonObject } from "../../../src/domain/json.ts";

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    text: { type: "string" },
    count: { type: "integer" },
    rate: { type: "number" },
    dry: { type: "boolean" },
    list: { type: "array" },
    map: { type: "object" },
    either: { type: ["string", "number", "null"] },
    open: {},
    choice: { enum: ["1", "2"] },
  },
};

function parse(pairs: readonly string[], json: string | null = null): JsonObject {
  return parseArguments({ pairs, json }, SCHEMA);
}

test("a pair is read as the tool's schema says", () => {
  expect(parse(["text=12", "count=3", "rate=1e-3", "dry=true", "list=[1]", 'map={"a":1}'])).toEqual({
    text: "12",
    count: 3,
    rate: 0.001,
    dry: true,
    list: [1],
    map: { a: 1 },
  });
});

test("only the first equals sign parts name and value, and the value may be empty", () => {
  expect(parse(["text=a=b=c"])).toEqual({ text: "a=b=c" });
  expect(parse(["text="])).toEqual({ text: "" });
});

test.each([
  ["either=3", 3],
  ["either=null", null],
  ["either=true", "true"],
  ["either=word", "word"],
  ["open=[1,2]", [1, 2]],
  ["open=word", "word"],
  ["unknown=7", 7],
  ["choice=1", "1"],
])("where several types fit, %s is the one that its text looks like", (pair, value) => {
  expect(Object.values(parse([pair]))).toEqual([value]);
});

test("everything that does not fit is told at once, as a fault of the command line", () => {
  const failure = catchFailure(() => parse(["count=1.5", "dry=yes", "novalue", "=x", "text=fine"]));
  expect(failure.exitCode).toBe(EXIT.usage);
  expect(failure.message.split("\n")).toEqual([
    "--arg count: expected integer, as JSON",
    "--arg dry: expected boolean, as JSON",
    '--arg "novalue": expected name=value',
    '--arg "=x": expected name=value',
  ]);
});

test("pairs win over the whole arguments, which must be an object", () => {
  expect(parse(["count=2"], '{"count":1,"text":"t"}')).toEqual({ count: 2, text: "t" });
  for (const json of ["[1]", "3", "{", "null"]) {
    expect(catchFailure(() => parse([], json)).message).toBe("--args-json: expected a JSON object");
  }
});

test("a name that every object inherits is an argument like any other", () => {
  const args = parse(["__proto__=x", "toString=y"]);
  expect(Object.entries(args)).toEqual([
    ["__proto__", "x"],
    ["toString", "y"],
  ]);
  expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
});

function catchFailure(run: () => unknown): CliFailure {
  try {
    run();
  } catch (error) {
    if (error instanceof CliFailure) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
