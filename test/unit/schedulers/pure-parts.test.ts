import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseIdentity } from "../../../adapters/schedulers/local/processes.ts";
import { LocalTarget } from "../../../adapters/schedulers/local/target.ts";
import { specProblem } from "../../../adapters/schedulers/shared/check-spec.ts";
import { endOfExit, parseExitRecord } from "../../../adapters/schedulers/shared/exit-record.ts";
import { shellWord } from "../../../adapters/schedulers/shared/job-files.ts";
import { inputFileName } from "../../../adapters/schedulers/shared/job-layout.ts";
import { INSTANCE, markTail } from "../../../adapters/schedulers/shared/mark.ts";
import { argvSpec, markOf, scriptSpec } from "../../support/jobs.ts";

describe("marks", () => {
  test("a mark of the instance gives its tail", () => {
    expect(markTail(`tr-main-${"a2".repeat(13)}`, "main")).toBe("a2".repeat(13));
    expect(markTail(`tr-a-b-${"z".repeat(26)}`, "a-b")).toBe("z".repeat(26));
  });

  test.each([
    `tr-other-${"a".repeat(26)}`,
    `tr-main-${"a".repeat(25)}`,
    `tr-main-${"a".repeat(27)}`,
    `tr-main-${"A".repeat(26)}`,
    `tr-main-${"a".repeat(25)}1`,
    `tr-main-${"a".repeat(26)}\n`,
    `tr-main-../../${"a".repeat(20)}`,
    `tr-main-sub-${"a".repeat(26)}`,
    `x-tr-main-${"a".repeat(26)}`,
    "",
  ])("no mark of the instance: %j", (mark) => {
    expect(markTail(mark, "main")).toBeNull();
  });

  test("no text but a mark passes, whatever it is", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(markTail(text, "main")).toBeNull();
        expect(markTail(markOf("main") + text, "main") === null || text === "").toBe(true);
      }),
    );
  });

  test("an instance is a part of a Kubernetes name", () => {
    for (const good of ["a", "main", "a-1", "x".repeat(20)]) expect(INSTANCE.test(good)).toBe(true);
    for (const bad of ["", "-a", "a-", "A", "a.b", "x".repeat(21), "a\n"])
      expect(INSTANCE.test(bad)).toBe(false);
  });
});

describe("names of input files", () => {
  test("plain keys stay as they are, the rest is escaped, and nothing leaves the directory", () => {
    expect(inputFileName("mesh_size-2.1")).toBe("mesh_size-2.1.json");
    expect(inputFileName("../x")).toBe("%2E.%2Fx.json");
    expect(inputFileName(".hidden")).toBe("%2Ehidden.json");
    expect(inputFileName("a b%ü\0")).toBe("a%20b%25%C3%BC%00.json");
    expect(inputFileName("x".repeat(500))).toMatch(/^%h[0-9a-f]{64}\.json$/);
  });

  test("no two keys share a name", () => {
    const key = fc.string({ unit: "grapheme", maxLength: 80 });
    fc.assert(
      fc.property(key, key, (a, b) => {
        const [one, other] = [inputFileName(a), inputFileName(b)];
        expect(one === other).toBe(Buffer.from(a).equals(Buffer.from(b)));
        expect(one).toMatch(/^[A-Za-z0-9_.%-]+\.json$/);
        expect(one.startsWith("..")).toBe(false);
      }),
    );
  });
});

describe("exit records", () => {
  const record = {
    version: 1,
    identity: "slurm:7",
    attempt: 1,
    life: 2,
    started: true,
    exitCode: 0,
    signal: null,
    termAtMs: null,
    timedOut: false,
    startedAtMs: 1000,
    endedAtMs: 3500,
    stdoutBytes: 10,
    stderrBytes: 0,
    host: "c1",
    signals: [],
  };
  const read = (fields: object = {}) => {
    const parsed = parseExitRecord(JSON.stringify({ ...record, ...fields }));
    if (parsed === null) throw new Error("no record");
    return endOfExit(parsed, 4);
  };

  test("room that was taken, half a record and other JSON are no record; blanks behind one are nothing", () => {
    const text = JSON.stringify(record);
    expect(parseExitRecord(" ".repeat(4096))).toBeNull();
    expect(parseExitRecord("")).toBeNull();
    expect(parseExitRecord(text.slice(0, 60))).toBeNull();
    expect(parseExitRecord("{}")).toBeNull();
    expect(parseExitRecord(`${text}${" ".repeat(500)}`)).toMatchObject({ life: 2 });
  });

  test("an exit code is an exit, and cores times seconds is what it cost", () => {
    expect(read({ exitCode: 3 })).toMatchObject({
      kind: "exited",
      exitCode: 3,
      coreSeconds: 10,
      requeues: 2,
      node: "c1",
      settled: true,
    });
  });

  test("the scheduler's own count of requeues goes before the number of the life", () => {
    expect(read({ requeues: 5 })).toMatchObject({ requeues: 5 });
    expect(parseExitRecord(JSON.stringify({ ...record, requeues: -1 }))).toBeNull();
  });

  test("128 + n is signal n, said in the reason", () => {
    expect(read({ exitCode: 139, signal: 11 })).toMatchObject({
      kind: "signalled",
      exitCode: null,
      signal: 11,
      reason: "exit status 139 (128 + signal 11)",
    });
  });

  test("a walltime is a timeout whatever the exit code", () => {
    expect(read({ timedOut: true })).toMatchObject({ kind: "timeout", exitCode: 0 });
  });

  test("a stop before the script began is an end without a start and without cost", () => {
    expect(read({ started: false, exitCode: null, termAtMs: 5 })).toMatchObject({
      started: false,
      startedAtMs: null,
      termAtMs: 5,
      coreSeconds: 0,
    });
  });

  test("no text throws", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void parseExitRecord(text)));
  });
});

describe("what a target refuses before it writes anything", () => {
  test.each([
    ["a NUL in an argument", argvSpec(["a", "b\0c"]), "argument 1 holds a NUL byte"],
    ["a NUL in the script", scriptSpec("a\0b"), "the script holds a NUL byte"],
    ["half a surrogate pair", argvSpec(["a", "\ud800"]), "not valid Unicode"],
    ["an empty program name", argvSpec([""]), "empty or begins with a hyphen"],
    ["a program name that is an option", argvSpec(["-c", "x"]), "begins with a hyphen"],
    ["a variable of ours", scriptSpec("", { env: { TAILRACE_TASK_DIR: "/" } }), "set by Tailrace"],
    ["a variable of the shell", scriptSpec("", { env: { OPTIND: "x" } }), "belongs to the shell"],
    ["an odd name", scriptSpec("", { env: { "a=b": "x" } }), "no name for an environment variable"],
    ["a long argument", argvSpec(["a", "x".repeat(131_072)]), "131073 bytes"],
    ["too much in all", argvSpec(Array(20).fill("x".repeat(100_000))), "together"],
  ])("%s", (_, spec, problem) => {
    expect(specProblem(spec)).toContain(problem);
  });

  test("the longest string that the system takes passes", () => {
    expect(specProblem(argvSpec(["a", "x".repeat(131_071)]))).toBeNull();
    expect(specProblem(scriptSpec("exit 0", { env: { _A1: "" } }))).toBeNull();
  });
});

test("a shell word never ends early", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const word = shellWord(text);
      const parts = word.slice(1, -1).split(`'\\''`);
      expect(parts.some((part) => part.includes("'"))).toBe(false);
      expect(parts.join("'")).toBe(text);
    }),
  );
});

test("only a whole process identity is one", () => {
  expect(parseIdentity("local:12:345:98804d43-c165")).toEqual({
    pid: 12,
    ticks: "345",
    boot: "98804d43-c165",
  });
  for (const text of [
    "local:0:1:a",
    "local:-1:1:a",
    "local:1::a",
    "local:1:2:",
    "slurm:7",
    "local:1:2:a b",
    "",
    "local:1:2:a\nx",
  ])
    expect(parseIdentity(text)).toBeNull();
});

test("the local target's settings have defaults, and odd ones are refused by name", () => {
  expect(LocalTarget.parse({ scheduler: "local" })).toEqual({
    scheduler: "local",
    maxConcurrent: 1,
    graceSeconds: 10,
    pollIntervalMs: 500,
  });
  for (const bad of [
    { maxConcurrent: 0 },
    { graceSeconds: 0 },
    { workdir: "jobs" },
    { workdir: "/a\nb" },
    { pollIntervalMs: 10 },
    { other: 1 },
  ])
    expect(LocalTarget.safeParse({ scheduler: "local", ...bad }).success).toBe(false);
});
