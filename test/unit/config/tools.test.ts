import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  complaintsAbout,
  loadedOf,
  settingsOf,
  tempFolder,
  toolFrom,
  toolText,
} from "../../support/config.ts";

const MKFIFO = "mkfifo";

test("a tool needs no more than a description and something to run", async () => {
  const { settings, warnings } = await loadedOf("tools: { t: { description: d, run: { argv: [a] } } }");
  expect(settings.tools[0]).toMatchObject({
    title: null,
    target: "here",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    outputSchema: null,
    resources: { cpus: 1, memoryMib: null, walltimeSeconds: 3600, gpus: 0 },
    solver: "auto",
    progress: { total: null, unit: null },
    outputs: [],
    idempotency: "optional",
    idempotencyWindowMs: 86_400_000,
    tasks: "optional",
    ttlMs: 604_800_000,
    options: {},
  });
  expect(warnings).toEqual([
    "tailrace.yaml:1:10 tools.t.resources.walltime: is missing, so a job is stopped after 1h: give it, e.g. 30m",
  ]);
});

test.each(["a b", "a/b", "ä", "'a:b'", "''", "a".repeat(129)])("%s is no name for a tool", async (name) => {
  const complaints = await complaintsAbout(`tools: { ${name}: { description: d, run: { argv: [a] } } }`);
  expect(complaints.join()).toContain("a tool's name is 1 to 128");
});

test.each([
  [["title: ''"], "title: must not be empty"],
  [["description: [a]"], "is given twice"],
  [["target: nowhere"], 'there is no target "nowhere": there are here'],
  [["ttl: 3s"], '"3s" is too short: at least 60s'],
  [["ttl: 99999d"], "is too long"],
  [["solver: ../x"], "must be the name of a translator"],
  [["solver: openfoma"], 'there is no translator "openfoma" (did you mean openfoam?)'],
  [["outputs: all"], "outputs: must be a list"],
  [["outputs: [/etc/passwd]"], "leaves the job's work directory"],
  [["outputs: ['a/../../b']"], "leaves the job's work directory"],
  [["outputs: ['{..,a}/b']"], "leaves the job's work directory"],
  [["outputs: ['{a,/etc}/b']"], "leaves the job's work directory"],
  [["env: { TAILRACE_X: a }"], "names that begin with TAILRACE_ are set by Tailrace"],
  [["env: { IFS: a }"], "cannot be set here"],
  [["env: { 'A-B': a }"], "is no name for an environment variable"],
  [["env: { A: [1] }"], "must be text: put it in quotes"],
  [["env: { A: ~ }"], "must be text"],
  [["options: []"], "options: must be a map"],
  [["run: {}"], "run: must have script or argv"],
  [["run: { argv: [] }"], "argv: must have at least 1 entry"],
  [["run: { argv: [a], script: b }"], "there is script already"],
  [["run: { argv: [''] }"], "must be the program to run"],
  [["run: { argv: [-x] }"], "must be the program to run"],
  [["run: { argv: [a, ~] }"], "must be text"],
  [[`run: { argv: [a, '\${args.x}'] }`], `\${args.x} names no argument of this tool: it has none`],
  [[`run: { argv: [a, '\${arg.x}'] }`], `\${arg.x} is not a placeholder`],
  [[`run: { argv: [a, '\${args}'] }`], `\${args} is not a placeholder`],
  [["run: a.sh"], "run: must be a map with the keys script, argv"],
  [[`progress: { total: '\${args.x}' }`], "names no argument"],
  [["progress: { total: 0 }"], "must be more than 0 (got 0)"],
  [["progress: { total: soon }"], `must be a number, or one \${args.<name>}`],
  [["input: { n: { type: string } }", `progress: { total: '\${args.n}' }`], `\${args.n} is no number`],
  [["input: { n: { type: number } }", `progress: { total: '\${args.n}0' }`], "and nothing else"],
])("%j is refused: %s", async (lines, message) => {
  expect((await complaintsAbout(toolText(...lines))).join("\n")).toContain(message);
});

test("a tool without description or run is told that they are missing", async () => {
  const complaints = await complaintsAbout("tools: { t: {} }");
  expect(complaints.join("\n")).toContain("tools.t.description: is missing: text is expected");
  expect(complaints.join("\n")).toContain("tools.t.run: is missing: give { script: … }");
});

test("with several targets a tool must name its own", async () => {
  const text = `targets: { a: { scheduler: local }, b: { scheduler: local } }\n${toolText()}`;
  expect((await complaintsAbout(text)).join()).toContain("is missing: there are several targets, a, b");
});

test("a tool of a target with a fault is not blamed for it", async () => {
  const text = `targets: { a: { scheduler: lokal } }\n${toolText("target: a")}`;
  expect(await complaintsAbout(text)).toHaveLength(1);
});

test("a target's defaults lie below the tool's options", async () => {
  const text = `targets: { a: { scheduler: local, defaults: { partition: batch, account: cfd } } }\n${toolText("options: { partition: long }")}`;
  expect((await settingsOf(text)).tools[0]?.options).toEqual({ partition: "long", account: "cfd" });
});

test("numbers in env and argv stay as they are written", async () => {
  const tool = await toolFrom(
    "env: { A: 007, B: 1.10, C: true, D: 4 }",
    "run: { argv: [solve, -n, 010, 1e3] }",
  );
  expect(tool.env).toMatchObject({ A: "007", B: "1.10", C: "true", D: "4" });
  expect(tool.run).toEqual({ kind: "argv", argv: ["solve", "-n", "010", "1e3"] });
});

test("placeholders name arguments, and a total may be one that is a number", async () => {
  const tool = await toolFrom(
    "input: { endTime: { type: number }, case: { type: string } }",
    `run: { argv: [solve, '--case=\${args.case}', '\${args.endTime}', '\${HOME}'] }`,
    `progress: { total: '\${args.endTime}', unit: s }`,
  );
  expect(tool.progress).toEqual({ total: `\${args.endTime}`, unit: "s" });
  expect(tool.run).toMatchObject({ argv: ["solve", `--case=\${args.case}`, `\${args.endTime}`, `\${HOME}`] });
});

test.each([
  `[sh, -c, 'echo \${args.x}']`,
  `[/bin/bash, -lc, '\${args.x}']`,
  `[srun, -n, 4, bash, -c, 'run \${args.x}']`,
  `[python3, -c, 'print(\${args.x})']`,
  `[perl, -ne, '\${args.x}']`,
  `[node, --eval, '\${args.x}']`,
  `[su, user, -c, '\${args.x}']`,
  `[ssh, login, run, '\${args.x}']`,
])("a caller's text never becomes code: %s is refused", async (argv) => {
  const complaints = await complaintsAbout(
    toolText("input: { x: { type: string } }", `run: { argv: ${argv} }`),
  );
  expect(complaints.join()).toContain("would become part of a program's code");
});

test("behind the code, a caller's text is an argument and allowed", async () => {
  await toolFrom("input: { x: { type: string } }", `run: { argv: [sh, -c, 'echo "$1"', sh, '\${args.x}'] }`);
});

test.each(["./solve.sh", "bin/solve", "../solve"])(
  "the program %s would be looked for in an empty folder",
  async (program) => {
    const [complaint] = await complaintsAbout(toolText(`run: { argv: [${program}, x] }`));
    expect(complaint).toMatch(
      /argv\[0\]: is a path within the job's own folder, which is empty.*: write \/.*solve/,
    );
  },
);

test("a caller who chooses the program is warned about", async () => {
  const text = toolText("input: { x: { type: string } }", `run: { argv: ['\${args.x}'] }`);
  expect((await loadedOf(text)).warnings.join()).toContain("chooses the program");
});

test("a script is text when it has lines or begins with #!, and a file otherwise", async () => {
  const inline = await toolFrom("run:", "  script: |", "    #!/bin/sh", "    echo hi");
  expect(inline.run).toEqual({ kind: "script", name: "t.sh", text: "#!/bin/sh\necho hi\n" });
  expect((await toolFrom("run: { script: '#!/bin/true' }")).run).toMatchObject({ text: "#!/bin/true" });
  const files = { "bin/a.sh": "#!/bin/sh\n" };
  const settings = await settingsOf(toolText("run: { script: bin/a.sh }"), { files });
  expect(settings.tools[0]?.run).toEqual({ kind: "script", name: "a.sh", text: "#!/bin/sh\n" });
});

test.each([
  ["", "is empty"],
  ["  \n", "is empty"],
  ["#!/bin/sh\r\necho\r\n", "has Windows line ends"],
  ["\uFEFF#!/bin/sh\n", "byte order mark"],
  ["a\0b", "NUL byte"],
  [`#!/bin/sh\n${"#".repeat(1024 ** 2)}`, "at most 1048576"],
])("a script file of %.20j is refused: it %s", async (content, message) => {
  const complaints = await complaintsAbout(toolText("run: { script: a.sh }"), { files: { "a.sh": content } });
  expect(complaints.join()).toContain(
    `tools.t.run.script: the script a.sh ${message.startsWith("at") ? "has" : ""}`,
  );
  expect(complaints.join()).toContain(message);
});

test("a script that is absent, a directory, a pipe, no text or unreadable is refused, and says which", async () => {
  const cwd = tempFolder();
  mkdirSync(join(cwd, "dir"));
  execFileSync(MKFIFO, [join(cwd, "pipe")]);
  writeFileSync(join(cwd, "binary"), Buffer.from([0xff, 0xfe, 0x41]));
  const about = async (script: string) =>
    (await complaintsAbout(toolText(`run: { script: ${script} }`), { cwd })).join();
  expect(await about("absent")).toContain("does not exist");
  expect(await about("dir")).toContain("is a directory, not a file");
  expect(await about("pipe")).toContain("is not a regular file");
  expect(await about("binary")).toContain("is not valid UTF-8");
  writeFileSync(join(cwd, "closed"), "#!/bin/sh\n");
  chmodSync(join(cwd, "closed"), 0);
  // Root reads everything.
  expect(await about("closed")).toBe(
    process.getuid?.() === 0 ? "" : expect.stringContaining("may not be read"),
  );
});

test("a script without an interpreter line is warned about", async () => {
  const { warnings } = await loadedOf(toolText("run: { script: a.sh }"), { files: { "a.sh": "echo hi\n" } });
  expect(warnings.join()).toContain("has no #! line");
});

test("a window without idempotency: arguments is warned about", async () => {
  const { warnings } = await loadedOf(toolText("idempotencyWindow: 1h"));
  expect(warnings.join()).toContain("has no effect");
  const tool = await toolFrom("idempotency: arguments", "idempotencyWindow: 1h");
  expect(tool.idempotencyWindowMs).toBe(3_600_000);
});
