import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { JobSpec } from "../../../src/domain/adapter.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { ToolDefinition } from "../../../src/domain/tool.ts";
import { resolveSpec } from "../../../src/tasks/spec.ts";
import { toolOf } from "../../support/front-desk.ts";

const LIMITS = { maxArgumentBytes: 512 * 1024 };
const arg = (name: string) => `\${args.${name}}`;

function resolve(args: JsonObject, fields: Partial<ToolDefinition> = {}): JobSpec {
  return resolveSpec(toolOf(fields), args, LIMITS);
}

function argv(elements: string[], args: JsonObject): string[] {
  const { run } = resolve(args, { run: { kind: "argv", argv: elements } });
  return run.kind === "argv" ? run.argv : [];
}

function refusal(args: JsonObject, fields: Partial<ToolDefinition> = {}): string {
  try {
    resolve(args, fields);
  } catch (error) {
    return String(error);
  }
  return "accepted";
}

test("a placeholder stays inside its one element, whatever the argument says", () => {
  fc.assert(
    fc.property(
      fc.string().filter((text) => !text.includes("\0")),
      (text) => {
        expect(argv(["solve", `--case=${arg("dir")}`, arg("dir")], { dir: text })).toEqual([
          "solve",
          `--case=${text}`,
          text,
        ]);
      },
    ),
  );
});

test("arguments that are no text stand as JSON, and a value is not expanded again", () => {
  const args = { n: 5, on: true, list: [1, "a"], object: { a: 1 }, trick: `${arg("n")}$&$1` };
  expect(argv(["x", arg("n"), arg("on"), arg("list"), arg("object"), arg("trick")], args)).toEqual([
    "x",
    "5",
    "true",
    '[1,"a"]',
    '{"a":1}',
    `${arg("n")}$&$1`,
  ]);
});

test("an element that names an absent argument is left out whole; an empty text is there", () => {
  expect(argv(["x", arg("a"), `--b=${arg("b")}`, `${arg("c")}${arg("a")}`, arg("c")], { c: "" })).toEqual([
    "x",
    "",
  ]);
  expect(argv(["x", arg("toString"), arg("__proto__")], {})).toEqual(["x"]);
});

test("a command line without a program is refused", () => {
  expect(refusal({}, { run: { kind: "argv", argv: [arg("program")] } })).toContain("command line is empty");
});

test("a script comes with its text and hash, untouched by arguments", () => {
  const text = `echo ${arg("n")}\n`;
  const { run } = resolve({ n: 1 }, { run: { kind: "script", name: "run.sh", text } });
  const sha256 = createHash("sha256").update(text).digest("hex");
  expect(run).toEqual({ kind: "script", name: "run.sh", text, sha256 });
});

test("arguments become TAILRACE_ARG_* beside the operator's own environment", () => {
  const { env } = resolve(
    { "end-time": 0.5, isFine: false, mesh: { n: [1] }, name: "a b" },
    { env: { OMP: "4" } },
  );
  expect(env).toEqual({
    OMP: "4",
    TAILRACE_ARG_END_TIME: "0.5",
    TAILRACE_ARG_ISFINE: "false",
    TAILRACE_ARG_MESH: '{"n":[1]}',
    TAILRACE_ARG_NAME: "a b",
  });
});

test.each<[string, JsonObject, string]>([
  ["a NUL", { a: "x\0" }, '"a" holds a NUL'],
  ["a NUL deep inside", { a: [{ b: "\0" }] }, '"a[0].b" holds a NUL'],
  ["a NUL in a name", { "a\0": 1 }, "holds a NUL"],
  ["a text over 128 KiB", { big: "é".repeat(65_536) }, '"big" is over 128 KiB'],
  ["names that collide", { "a-b": 1, a_b: 2 }, "TAILRACE_ARG_A_B"],
  ["names that collide by case", { Re: 1, re: 2 }, '"re" and "Re"'],
  ["a name of the operator's", { OWN: 1 }, "tool's own environment variable"],
  ["__proto__", JSON.parse('{"a":{"__proto__":1}}'), "is not allowed"],
])("%s is refused, naming the field", (_, args, words) => {
  const message = refusal(args, { env: { TAILRACE_ARG_OWN: "x" } });
  expect(message).toContain("Invalid arguments");
  expect(message).toContain(words);
});

test("all arguments together have a limit", () => {
  const args = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`a${n}`, "x".repeat(100_000)]));
  expect(refusal(args)).toContain("over the limit");
});

test("progress.total is a number, or the argument's when that is one", () => {
  const total = (from: string | number | null, args: JsonObject) =>
    resolve(args, { progress: { total: from, unit: "s" } }).progress;
  expect(total(5, {})).toEqual({ total: 5, unit: "s" });
  expect(total(arg("end"), { end: 0.5 })).toEqual({ total: 0.5, unit: "s" });
  for (const args of [{}, { end: "0.5" }]) expect(total(arg("end"), args)).toEqual({ unit: "s" });
});

test("the specification fits its schema and holds the operator's resources", () => {
  const resources = { cpus: 4, memoryMib: 512, walltimeSeconds: 60, gpus: 1 };
  const spec = resolve(
    { n: 1 },
    { resources, outputSchema: { type: "object" }, options: { partition: "x" } },
  );
  expect(JobSpec.parse(spec)).toEqual(spec);
  expect(spec).toMatchObject({ resources, options: { partition: "x" }, outputSchema: { type: "object" } });
});
