import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/json.ts";
import { complaintsAbout, toolFrom, toolText } from "../../support/config.ts";

const INPUT = [
  "input:",
  "  reynolds: { type: number, minimum: 1, maximum: 10000 }",
  "  endTime: { type: number, default: 0.5 }",
  "  solver: { enum: [icoFoam, simpleFoam], optional: true }",
  "  grid: { type: array, items: { type: integer }, optional: true }",
];

test("an argument is required unless it has a default or says so, and no others are taken", async () => {
  const tool = await toolFrom(...INPUT);
  expect(tool.inputSchema).toMatchObject({ required: ["reynolds"], additionalProperties: false });
  expect(JSON.stringify(tool.inputSchema)).not.toContain("optional");
});

test("a whole schema counts as it is written", async () => {
  const tool = await toolFrom(
    "inputSchema:",
    "  properties: { n: { $ref: '#/$defs/count' }, m: { type: string } }",
    "  $defs: { count: { type: integer, minimum: 1 } }",
    "  dependentRequired: { m: [n] }",
  );
  expect(tool.inputSchema["type"]).toBe("object");
  expect(tool.checkArguments({ extra: 1 })).toEqual({ args: { extra: 1 } });
  expect(tool.checkArguments({ n: 0 })).toEqual({ problems: ["n: must be >= 1 (got 0)"] });
  expect(tool.checkArguments({ m: "x" })).toEqual({ problems: ["n: is missing"] });
});

test.each<[JsonObject, string[]]>([
  [{ reynolds: 20_000 }, ["reynolds: must be <= 10000 (got 20000)"]],
  [{ reynolds: "20" }, ['reynolds: must be number (got "20")']],
  [{}, ["reynolds: is missing"]],
  [{ reynolds: 1, renolds: 1 }, ["renolds: is not known to this tool (did you mean reynolds?)"]],
  [{ reynolds: 1, solver: "x" }, ['solver: must be one of "icoFoam", "simpleFoam" (got "x")']],
  [{ reynolds: 1, grid: [1, 2.5] }, ["grid[1]: must be integer (got 2.5)"]],
  [{ reynolds: 0, endTime: null }, ["reynolds: must be >= 1 (got 0)", "endTime: must be number (got null)"]],
  [{ reynolds: { a: 1 } }, ["reynolds: must be number (got a map)"]],
])("the arguments %j are refused: %j", async (args, problems) => {
  expect((await toolFrom(...INPUT)).checkArguments(args)).toEqual({ problems });
});

test("defaults are filled into a copy; the caller's own object is left alone, right or wrong", async () => {
  const tool = await toolFrom(...INPUT);
  const right = Object.freeze({ reynolds: 5 });
  expect(tool.checkArguments(right)).toEqual({ args: { reynolds: 5, endTime: 0.5 } });
  const wrong = Object.freeze({ reynolds: 0 });
  expect(tool.checkArguments(wrong)).toEqual({ problems: ["reynolds: must be >= 1 (got 0)"] });
});

test("names that every object seems to have are as unknown as others", async () => {
  const tool = await toolFrom(...INPUT);
  for (const name of ["__proto__", "constructor", "toString"]) {
    const args: JsonObject = JSON.parse(`{"reynolds":1,"${name}":{"x":1}}`);
    expect(tool.checkArguments(args)).toEqual({ problems: [`${name}: is not known to this tool`] });
  }
  expect({}).not.toHaveProperty("x");
});

test("deep, long and wide arguments are answered quickly and in few words", async () => {
  const tool = await toolFrom(...INPUT);
  const deep: JsonObject = JSON.parse(`{"grid":${"[".repeat(5000)}${"]".repeat(5000)}}`);
  expect(tool.checkArguments(deep)).toEqual({ problems: ["the arguments are nested more than 64 deep"] });
  const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`x${index}`, 1]));
  const many = { reynolds: 1, grid: Array(1000).fill("x") };
  const long = { reynolds: "x".repeat(1_000_000), endTime: 1 };
  for (const args of [wide, many, long]) {
    const answer = tool.checkArguments(args);
    expect("problems" in answer && answer.problems.length).toBeLessThanOrEqual(21);
    expect(JSON.stringify(answer).length).toBeLessThan(3000);
  }
});

test("whatever JSON comes, the check answers, and what it lets through fits the schema", async () => {
  const tool = await toolFrom(...INPUT);
  fc.assert(
    fc.property(
      fc.dictionary(fc.oneof(fc.constantFrom("reynolds", "endTime", "grid"), fc.string()), fc.jsonValue()),
      (args) => {
        const before = structuredClone(args);
        const answer = tool.checkArguments(args as JsonObject);
        expect(args).toEqual(before);
        if ("args" in answer) {
          expect(answer.args["reynolds"]).toBeGreaterThanOrEqual(1);
          expect(answer.args["endTime"]).toBeTypeOf("number");
        } else expect(answer.problems.length).toBeGreaterThan(0);
      },
    ),
  );
});

test.each([
  ["input: { idempotencyKey: { type: string } }", "is added by Tailrace itself"],
  ["input: { __proto__: { type: string } }", "input.__proto__: is not a name that can be used"],
  ["input: { constructor: { type: string } }", "a meaning of its own in JavaScript"],
  ["input: { '': { type: string } }", "an argument needs a name"],
  [
    "input: { a-b: { type: string }, a_B: { type: string } }",
    "would both be the environment variable TAILRACE_ARG_A_B",
  ],
  ["input: { a: number }", 'input.a: must be a schema, like { type: number } (got "number")'],
  [
    "input: { a: { type: nubmer } }",
    'input.a.type: must be one of array, boolean, integer, null, number, object, string (got "nubmer") (did you mean number?)',
  ],
  [
    "input: { a: { type: number, minimun: 1 } }",
    "input.a.minimun: is not a keyword of JSON Schema 2020-12 (did you mean minimum?)",
  ],
  ["input: { a: { type: array, items: { colour: red } } }", "input.a.items.colour: is not a keyword"],
  ["input: { a: { $async: true } }", "input.a.$async: is not a keyword"],
  [
    "input: { a: { type: string, format: dat } }",
    'input.a.format: there is no format "dat" (did you mean date?)',
  ],
  ["input: { a: { type: string, pattern: '(' } }", "input.a.pattern: is not a regular expression"],
  [
    "input: { a: { type: number, minimum: low } }",
    "input.a.minimum: is not right for JSON Schema 2020-12: must be number",
  ],
  ["input: { a: { $ref: 'https://example.org/x.json' } }", "input.a.$ref: points outside of this schema"],
  ["input: { a: { $ref: '#/$defs/none' } }", "is not a usable JSON Schema"],
  [
    "input: { a: { $schema: 'http://json-schema.org/draft-07/schema#' } }",
    "schemas here are JSON Schema 2020-12",
  ],
  [
    "input: { a: { type: number, default: none } }",
    "input.a.default: does not fit its own schema: must be number",
  ],
  ["input: { a: { type: number, required: true } }", "input.a.required: is not needed"],
  ["input: { a: { type: number, optional: maybe } }", "input.a.optional: must be true or false"],
  ["input: { type: object, properties: {} }", "looks like a whole JSON Schema: put it under inputSchema"],
  ["input: [a]", "input: must be a map"],
  ["inputSchema: { type: array }", "inputSchema.type: must be object"],
  [
    "inputSchema: { properties: { idempotencyKey: {} } }",
    "inputSchema.properties.idempotencyKey: this argument",
  ],
  ["inputSchema: { required: [a, a] }", "inputSchema.required: is not right"],
  ["output: { type: objekt }", "output.type: must be one of"],
  ["output: { properties: { a: { tpye: string } } }", "output.properties.a.tpye: is not a keyword"],
])("%j is refused: %s", async (line, message) => {
  expect((await complaintsAbout(toolText(line))).join("\n")).toContain(message);
});

test("input and inputSchema exclude each other", async () => {
  const text = toolText("input: {}", "inputSchema: {}");
  expect((await complaintsAbout(text)).join()).toContain("there is input already");
});

test("two tools may use the same $id", async () => {
  const tool = "{ description: d, run: { argv: [a] }, inputSchema: { $id: 'urn:example:x', type: object } }";
  expect(await complaintsAbout(`tools: { a: ${tool}, b: ${tool} }`)).toEqual([]);
});
