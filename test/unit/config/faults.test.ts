import { expect, test } from "vitest";
import { complaintsAbout, load, toolText } from "../../support/config.ts";

const FAULTY = `instnce: lab
targets:
  here: { scheduler: locl }
  there: { scheduler: local, maxConcurrent: 0 }
tools:
  run case:
    description: ok
    target: there
    run: { argv: [solve] }
  solve:
    description: ok
    target: ther
    input:
      reynolds: { type: number, minimun: 1 }
    run: { script: ./nothing.sh }
    resources: { cpus: 1, walltime: 30x }
    progress: { total: "\${args.renolds}" }
    outputs: ["../**"]
    idempotency: requird
auth: { token: hunter2 }
store:
  url: redis://:secret@host
  url: redis://host
`;

test("a file with many faults lists all of them, in order, each with its line, column and field", async () => {
  const complaints = await complaintsAbout(FAULTY);
  const starts = complaints.map((line) => line.slice(0, line.indexOf(": ")));
  expect(starts).toEqual([
    "tailrace.yaml:1:1 instnce",
    "tailrace.yaml:3:11 targets.here.scheduler",
    "tailrace.yaml:4:30 targets.there.maxConcurrent",
    'tailrace.yaml:6:3 tools["run case"]',
    "tailrace.yaml:12:5 tools.solve.target",
    "tailrace.yaml:14:33 tools.solve.input.reynolds.minimun",
    "tailrace.yaml:15:12 tools.solve.run.script",
    "tailrace.yaml:16:27 tools.solve.resources.walltime",
    "tailrace.yaml:18:15 tools.solve.outputs[0]",
    "tailrace.yaml:19:5 tools.solve.idempotency",
    "tailrace.yaml:20:9 auth.token",
    "tailrace.yaml:22:3 store.url",
    "tailrace.yaml:23:3 store.url",
  ]);
  expect(complaints[7]).toBe(
    'tailrace.yaml:16:27 tools.solve.resources.walltime: "30x" is not a duration: write e.g. 30m, 2h or 7d',
  );
  expect(complaints.join("\n")).not.toMatch(/hunter2|secret@/);
});

test.each([
  ["instnce: a", "instance"],
  ["store: { durabilty: strict }", "durability"],
  ["store: { durability: strickt }", "strict"],
  ["listen: { prot: 1 }", "port"],
  ["limits: { inlinewait: 3s }", "inlineWait"],
  ["tuning: { flushms: 3 }", "flushMs"],
  ["tuning: { outputs: { maxFile: 3 } }", "maxFiles"],
  ["auth: { tokens: [ { nam: a, env: B } ] }", "name"],
  ["targets: { here: { scheduler: locla } }", "local"],
  [toolText("resourcs: {}"), "resources"],
  [toolText("idempotency: argument"), "arguments"],
  [toolText("tasks: requird"), "required"],
  [toolText("run: { scrip: x }"), "script"],
  [toolText("progress: { totl: 3 }"), "total"],
])("%j is answered with a suggestion: %s", async (text, suggestion) => {
  expect((await complaintsAbout(text)).join("\n")).toContain(`(did you mean ${suggestion}?)`);
});

test("a key that resembles none is answered with the keys there are", async () => {
  expect(await complaintsAbout("limits: { colour: red }")).toEqual([
    "tailrace.yaml:1:11 limits.colour: is not a key that is known here: expected inlineWait, streamsPerCaller, streamsPerTask",
  ]);
});

test.each([
  ["instance: Lab", "instance: must be 1 to 16 of a-z and 0-9"],
  ["instance: abcdefghijklmnopq", "1 to 16"],
  ["instance: ''", "1 to 16"],
  ["instance: 7", "instance: must be text (got 7)"],
  ["stateDir: [a]", "stateDir: must be text (got a list of 1)"],
  ["listen: { port: 70000 }", "listen.port: must be at most 65535 (got 70000)"],
  ["listen: { port: 1.5 }", "listen.port: must be a whole number"],
  ["listen: { host: 'http://x' }", "without scheme or port"],
  ["listen: { allowedHosts: some }", "must be `any` or a list"],
  ["listen: 3", "listen: must be a map with the keys host, port"],
  ["limits: { streamsPerTask: 0 }", "must be at least 1 (got 0)"],
  ["limits: { inlineWait: 20 }", "20 is not a duration"],
  ["tuning: { flushMs: 0 }", "tuning.flushMs: "],
  ["targets: [a]", "targets: must be a map"],
  ["targets: { a.b: { scheduler: local } }", "a target's name is"],
  ["targets: { a: local }", "targets.a: must be a map, like { scheduler: local }"],
  ["targets: { a: {} }", "targets.a.scheduler: is missing"],
  ["targets: { a: { scheduler: local, maxConcurent: 2 } }", "targets.a.maxConcurent: is not a key"],
  ["targets: { a: { scheduler: local, defaults: 3 } }", "targets.a.defaults: must be a map"],
  ["tools: [a]", "tools: must be a map"],
  ["tools: { a: ~ }", "tools.a: must be a map with the keys title"],
  ["[a]", "must be a map with the keys instance"],
  ["text", "must be a map with the keys instance"],
])("%j is refused: %s", async (text, message) => {
  expect((await complaintsAbout(text)).join("\n")).toContain(message);
});

test("what is wrong with YAML itself is told with its line, and nothing is guessed about the rest", async () => {
  const complaints = await complaintsAbout("instance: a\ntools:\n  a: [b\nlisten: 3\n");
  expect(complaints.length).toBeGreaterThan(0);
  for (const complaint of complaints) expect(complaint).toMatch(/^tailrace\.yaml:\d+:\d+: not valid YAML: /);
});

test.each([
  ["a: 1\na: 2\n", "tailrace.yaml:2:1 a: is given twice"],
  ["tools:\n  a: {}\n  a: {}\n", "tailrace.yaml:3:3 tools.a: is given twice"],
  ["__proto__: { x: 1 }\n", "__proto__: is not a name that can be used"],
  ['instance: "a\\0b"\n', "instance: holds a NUL character"],
  ['"a\\0b": 1\n', "its name holds a NUL character"],
  ["limits: { streamsPerTask: .inf }\n", '".inf" is not a number that JSON can hold'],
  ["? [a]\n: 1\n", "has a key that is not plain text"],
  ["instance: !!foo a\n", "not valid YAML: Unresolved tag"],
  ["instance: *nowhere\n", "has no anchor &nowhere before it"],
  ["tools: &a { x: *a }\n", "nested too deeply"],
  ["%YAML 1.1\n---\ninstance: !!binary aGk=\n", "is of a kind that JSON does not have"],
  ["--- 1\n--- 2\n", "not valid YAML"],
])("the text %j is refused: %s", async (text, message) => {
  expect((await complaintsAbout(text)).join("\n")).toContain(message);
});

test("brackets without end are one problem", async () => {
  expect(await complaintsAbout(`instance: ${"[".repeat(100_000)}`)).toEqual([
    "tailrace.yaml:1:1: the file is nested too deeply",
  ]);
});

test("aliases share a value, but cannot be multiplied without end", async () => {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let level = 1; level < 8; level++) {
    lines.push(
      `a${level}: &a${level} [${Array(10)
        .fill(`*a${level - 1}`)
        .join(", ")}]`,
    );
  }
  expect((await complaintsAbout(lines.join("\n"))).join("\n")).toContain("more than 100000 values");
  const shared = "targets:\n  a: &local { scheduler: local, maxConcurrent: 3 }\n  b: *local\n";
  expect(await load(shared)).toMatchObject({
    kind: "ok",
    settings: { targets: { b: { maxConcurrent: 3 } } },
  });
});

test("a file that is no text, or too large, is refused with its name alone", async () => {
  expect(await load("x".repeat(5 * 1024 ** 2))).toMatchObject({
    kind: "problems",
    problems: [{ file: "tailrace.yaml", line: null, message: expect.stringContaining("at most") }],
  });
  expect(await load("a\0b")).toMatchObject({ problems: [{ message: expect.stringContaining("NUL byte") }] });
  expect(await load("", { path: "." })).toMatchObject({ kind: "problems" });
});

test("values of a message are cut short and cannot steer a terminal", async () => {
  const [complaint = ""] = await complaintsAbout(
    `limits: { inlineWait: "\\e[31m\\u202e${"x".repeat(500)}" }`,
  );
  expect(complaint).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(complaint.length).toBeLessThan(250);
});
