import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { collectOutputs } from "../../../adapters/schedulers/shared/collect.ts";
import { advance, isMatch, parseGlobs } from "../../../adapters/schedulers/shared/globs.ts";
import { NEVER, type TestDirectory, testDirectory } from "../../support/jobs.ts";

let directory: TestDirectory;
let work: string;
beforeEach(() => {
  directory = testDirectory();
  work = join(directory.path, "work");
  mkdirSync(work);
});
afterEach(() => directory.remove());

function put(name: string, text = "x"): void {
  const path = join(work, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const LIMITS = { maxFiles: 100, maxBytes: 1_000_000, maxResultBytes: 1000 };
const collect = (outputs: string[], limits = {}) =>
  collectOutputs(work, { outputs, ...LIMITS, ...limits }, NEVER);
const names = async (outputs: string[], limits = {}) =>
  (await collect(outputs, limits)).artifacts.map((artifact) => artifact.name);

describe("globs", () => {
  const matches = (glob: string, name: string) =>
    isMatch(name.split("/").reduce((places, part) => advance(places, part), parseGlobs([glob])));

  test.each([
    ["log.*", "log.icoFoam", true],
    ["log.*", "d/log.icoFoam", false],
    ["**/log.*", "log.a", true],
    ["**/log.*", "a/b/log.a", true],
    ["a/**", "a/b/c", true],
    ["a/**", "a", true],
    ["a/**", "b/a", false],
    ["**", "a/b", true],
    ["**", ".hidden", false],
    ["**/.h*", "a/.hidden", true],
    ["*", ".hidden", false],
    ["a?c", "abc", true],
    ["a?c", "a/c", false],
    ["[a-c]x", "bx", true],
    ["[!a-c]x", "bx", false],
    ["{a,b}/*.{vtk,csv}", "b/x.csv", true],
    ["{a,b}/*.{vtk,csv}", "c/x.csv", false],
    ["a.b", "axb", false],
    ["*a*b", "xaxbxab", true],
    ["*a*b", "xaxbxa", false],
    ["[]x]y", "]y", true],
    ["[!]x]y", "ay", true],
    ["[a-]x", "-x", true],
    ["[", "x", false],
    ["(a|b)+", "a", false],
    ["\\*", "*", true],
    ["\\*", "x", false],
    ["./a//b", "a/b", true],
    ["ü*☃", "üx☃", true],
    ["[", "[", true],
    ["**/a/**/b", "x/a/y/z/b", true],
  ])("%s against %s: %s", (glob, name, expected) => {
    expect(matches(glob, name)).toBe(expected);
  });

  test.each([["/etc/*"], ["../x"], ["a/../../b"], [""], ["."], ["a\0"]])("%j is refused", (glob) => {
    expect(() => parseGlobs([glob])).toThrow(/output glob/);
  });

  test("braces cannot grow without bound, and stars cannot slow a match down", () => {
    expect(() => parseGlobs(["{a,b}".repeat(20)])).toThrow(/more than 256/);
    const begun = performance.now();
    expect(matches(`${"*a".repeat(50)}b`, "a".repeat(200))).toBe(false);
    expect(matches(`${"**/".repeat(30)}b`, `${"a/".repeat(50)}a`)).toBe(false);
    expect(performance.now() - begun).toBeLessThan(1000);
  });
});

test("files come in order of their names with size, hash and media type, each once", async () => {
  put("b.txt", "bee");
  put("a/z.vtk", "");
  put("a/data.json", "{}");
  const { artifacts } = await collect(["**", "*.txt", "a/*"]);
  expect(artifacts).toEqual([
    {
      name: "a/data.json",
      mediaType: "application/json",
      bytes: 2,
      sha256: createHash("sha256").update("{}").digest("hex"),
    },
    {
      name: "a/z.vtk",
      mediaType: "application/octet-stream",
      bytes: 0,
      sha256: createHash("sha256").digest("hex"),
    },
    {
      name: "b.txt",
      mediaType: "text/plain",
      bytes: 3,
      sha256: createHash("sha256").update("bee").digest("hex"),
    },
  ]);
});

test("links are named and never followed, also as directories on the way and in the work directory's own path", async () => {
  put("real.txt");
  symlinkSync("/etc", join(work, "out"));
  symlinkSync("real.txt", join(work, "in.txt"));
  symlinkSync(".", join(work, "loop"));
  const { artifacts, skipped } = await collect(["**", "out/*"]);
  expect(artifacts.map((one) => one.name)).toEqual(["real.txt"]);
  expect(skipped.map((one) => one.name)).toEqual(["in.txt", "loop", "out"]);
  symlinkSync(work, join(directory.path, "alias"));
  const viaAlias = await collectOutputs(
    join(directory.path, "alias"),
    { outputs: ["*.txt"], ...LIMITS },
    NEVER,
  );
  expect(viaAlias.artifacts.map((one) => one.name)).toEqual(["real.txt"]);
});

test("directories, FIFOs and names that are no text are left out with the reason", async () => {
  put("d/x");
  spawnSync("mkfifo", [join(work, "pipe")]);
  spawnSync("sh", ["-c", "touch $(printf 'bad\\377name')"], { cwd: work });
  const { artifacts, skipped } = await collect(["*"]);
  expect(artifacts).toEqual([]);
  expect(skipped).toEqual([
    { name: "bad\ufffdname", reason: "its name is not valid UTF-8" },
    { name: "d", reason: expect.stringContaining("d/**") },
    { name: "pipe", reason: "no regular file" },
  ]);
});

test("the limits of count and bytes keep the first by name and name the rest", async () => {
  put("a", "12345");
  put("b", "123456");
  put("c", "12");
  put("d", "1");
  expect(await names(["*"], { maxFiles: 2 })).toEqual(["a", "b"]);
  const { artifacts, skipped } = await collect(["*"], { maxBytes: 8 });
  expect(artifacts.map((one) => one.name)).toEqual(["a", "c", "d"]);
  expect(skipped).toEqual([{ name: "b", reason: "6 bytes, over the limit of 8 bytes in all" }]);
});

test("ten thousand files are listed, capped and counted", async () => {
  for (let index = 0; index < 10_000; index++) writeFileSync(join(work, `f${index}`), "");
  const { artifacts, skipped } = await collect(["*"], { maxFiles: 50 });
  expect(artifacts.length).toBe(50);
  expect(skipped.length).toBe(1001);
  expect(skipped.at(-1)).toEqual({ name: "", reason: "8950 more beside these" });
});

describe("result.json", () => {
  test.each([
    ["1.5", 1.5],
    ["null", null],
    ['\ufeff{"a":[1]}', { a: [1] }],
  ])("%j is the result", async (text, result) => {
    put("result.json", text);
    expect(await collect([])).toMatchObject({ result, resultProblem: null });
  });

  test("none is no problem", async () => {
    expect(await collect([])).toMatchObject({ result: null, resultProblem: null });
  });

  test.each([
    ["{", /result\.json: /],
    ["NaN", /result\.json: /],
    ["", /result\.json: /],
    ["x".repeat(1001), /1001 bytes, over the limit of 1000/],
    [`${"[".repeat(200)}${"]".repeat(200)}`, /nested/],
  ])("%j is a problem in words", async (text, problem) => {
    put("result.json", text);
    expect(await collect([])).toMatchObject({ result: null, resultProblem: expect.stringMatching(problem) });
  });

  test("a link in its place and bytes that are no text are problems", async () => {
    symlinkSync("/etc/passwd", join(work, "result.json"));
    expect((await collect([])).resultProblem).toContain("link");
    spawnSync("sh", ["-c", "rm result.json; printf '\"\\377\"' > result.json"], { cwd: work });
    expect((await collect([])).resultProblem).toMatch(/encoded|valid/);
  });
});

test("an abort ends a collection", async () => {
  put("a");
  const request = { outputs: ["**"], ...LIMITS };
  await expect(collectOutputs(work, request, AbortSignal.abort(new Error("enough")))).rejects.toThrow(
    "enough",
  );
});
