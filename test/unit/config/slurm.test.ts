import { expect, test } from "vitest";
import { complaintsAbout, settingsOf, toolText } from "../../support/config.ts";

const target = (fields = "") => `targets: { hpc: { scheduler: slurm, workdir: /shared/tr${fields} } }`;
const withOptions = (options: string) => `${target()}\n${toolText(`options: ${options}`)}`;

test("a Slurm target needs its workdir alone", async () => {
  const { targets } = await settingsOf(target());
  expect(targets["hpc"]).toEqual({
    scheduler: "slurm",
    workdir: "/shared/tr",
    commands: {
      sbatch: "sbatch",
      squeue: "squeue",
      sacct: "sacct",
      scancel: "scancel",
      scontrol: "scontrol",
    },
    pollSeconds: 5,
    submitTimeoutSeconds: 150,
    queryTimeoutSeconds: 25,
    accounting: "auto",
  });
});

test.each([
  ["targets: { hpc: { scheduler: slurm } }", "targets.hpc.workdir: is missing: text is expected"],
  [
    "targets: { hpc: { scheduler: slurm, workdir: jobs } }",
    'targets.hpc.workdir: must be an absolute path of letters, digits, blanks and . _ / + @ , : = ~ - (got "jobs")',
  ],
  [
    "targets: { hpc: { scheduler: slurm, workdir: ~/jobs } }",
    "targets.hpc.workdir: must be an absolute path",
  ],
  ["targets: { hpc: { scheduler: slurm, workdir: '/a/$USER' } }", "targets.hpc.workdir: must be an absolute"],
  [target(", wrokdir: /a"), "targets.hpc.wrokdir: is not a key that is known here (did you mean workdir?)"],
  [target(", maxConcurrent: 2"), "targets.hpc.maxConcurrent: is not a key that is known here: expected"],
  [target(", cluster: '-M'"), 'targets.hpc.cluster: must be a cluster\'s name (got "-M")'],
  [target(", slurmConf: slurm.conf"), "targets.hpc.slurmConf: must be an absolute path"],
  [target(", commands: { sbach: x }"), "targets.hpc.commands.sbach: is not a key that is known here"],
  [target(", commands: { sbatch: --version }"), "targets.hpc.commands.sbatch: must be the name or path of"],
  [target(", pollSeconds: 0"), "targets.hpc.pollSeconds: must be at least 1 (got 0)"],
  [target(", accounting: on"), "targets.hpc.accounting: must be one of auto, off"],
  [target(", runAs: alice"), "targets.hpc.runAs: must be a map"],
  [target(", runAs: { ann: '1001' }"), 'targets.hpc.runAs.ann: must be the name of a Unix user (got "1001")'],
  [target(", runAs: { ann: '-u root' }"), "targets.hpc.runAs.ann: must be the name of a Unix user"],
])("the target %j is refused with its place: %s", async (text, message) => {
  const complaints = await complaintsAbout(text);
  expect(complaints).toHaveLength(1);
  expect(complaints[0]).toMatch(/^tailrace\.yaml:1:\d+ /);
  expect(complaints[0]).toContain(message);
});

const WRONG_OPTIONS: readonly (readonly [string, string])[] = [
  ["{ partitoin: a }", "partitoin: is not a key that is known here (did you mean partition?)"],
  ["{ tasksPerNdoe: 4 }", "tasksPerNdoe: is not a key that is known here (did you mean tasksPerNode?)"],
  ["{ colour: red }", "colour: is not a key that is known here: expected partition, account, qos"],
  ["{ mail: { user: a, typ: ALL } }", "mail.typ: is not a key that is known here (did you mean type?)"],
  ["{ mail: { type: ALL } }", "mail.user: is missing: text is expected"],
  ['{ extra: ["--parsable"] }', "extra[0]: --parsable is set by Tailrace, or would hide the job from it"],
  ['{ extra: ["--switches=1", "-J x"] }', "extra[1]: must be one long option of sbatch with its value"],
  ['{ extra: ["--job-name=x"] }', "extra[0]: --job-name is set by Tailrace"],
  ['{ extra: ["--outp=x"] }', "extra[0]: --outp is set by Tailrace"],
  ["{ extra: --switches=1 }", "extra: must be a list"],
  ['{ modules: ["a; rm -rf /"] }', "modules[0]: must be a module's name"],
  ['{ modules: ["--purge"] }', "modules[0]: must be a module's name"],
  ['{ preamble: ["a\\nb"] }', "preamble[0]: must be one line"],
  ["{ tasks: 0 }", "tasks: must be at least 1 (got 0)"],
  ["{ nodes: many }", "nodes: "],
  ["{ nice: 1.5 }", "nice: must be a whole number"],
  ["{ exclusive: 1 }", "exclusive: must be true or false (got 1)"],
  ["{ account: '' }", "account: must not be empty"],
  ['{ qos: "a\\nb" }', "qos: must not hold control characters"],
];

test.each(WRONG_OPTIONS)(
  "options %s of a Slurm tool are refused with their place: %s",
  async (options, message) => {
    const complaints = await complaintsAbout(withOptions(options));
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatch(/^tailrace\.yaml:6:\d+ tools\.t\.options\./);
    expect(complaints[0]).toContain(`tools.t.options.${message}`);
  },
);

test.each(WRONG_OPTIONS)(
  "defaults %s of a Slurm target are refused with their place: %s",
  async (defaults, message) => {
    const complaints = await complaintsAbout(target(`, defaults: ${defaults}`));
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatch(/^tailrace\.yaml:1:\d+ targets\.hpc\.defaults\./);
    expect(complaints[0]).toContain(`targets.hpc.defaults.${message}`);
  },
);

test("all wrong options are told at once, each with its own column", async () => {
  const complaints = await complaintsAbout(withOptions("{ tasks: 0, qoss: a, extra: ['--wrap=x'] }"));
  expect(complaints.map((line) => line.split(": ")[0])).toEqual([
    "tailrace.yaml:6:16 tools.t.options.tasks",
    "tailrace.yaml:6:26 tools.t.options.qoss",
    "tailrace.yaml:6:43 tools.t.options.extra[0]",
  ]);
});

test("options that are right are kept as they are written, above the target's defaults", async () => {
  const text = `${target(", defaults: { partition: main, account: cfd, tasks: 2 }")}\n${toolText(
    "options: { partition: long, nodes: 2-4, tasks: 8, modules: [openfoam/2306], extra: ['--signal=B:USR1@300'] }",
  )}`;
  expect((await settingsOf(text)).tools[0]?.options).toEqual({
    partition: "long",
    account: "cfd",
    nodes: "2-4",
    tasks: 8,
    modules: ["openfoam/2306"],
    extra: ["--signal=B:USR1@300"],
  });
  expect((await settingsOf(text)).defaults["hpc"]).toEqual({ partition: "main", account: "cfd", tasks: 2 });
});

test("options of a local tool, and defaults of a local target, are let through whatever they are", async () => {
  const text = `targets: { a: { scheduler: local, defaults: { partition: x, extra: 3 } } }\n${toolText("options: { colour: red }")}`;
  expect((await settingsOf(text)).tools[0]?.options).toEqual({ partition: "x", extra: 3, colour: "red" });
});
