import { chmodSync, copyFileSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  EXAMPLE,
  readResult,
  readText,
  solve,
  start,
  startSolver,
  temporaryFolder,
} from "../../support/cavity.ts";

const folder = () => temporaryFolder(onTestFinished);

/** The rows of check.mjs's two tables: place, Ghia's value, ours, difference. */
function comparedRows(text: string): number[][] {
  return text
    .split("\n")
    .filter((line) => /^\s*\d\.\d{4}\s/.test(line))
    .map((line) => line.trim().split(/\s+/).map(Number));
}

test("at Re 100 both centre-line profiles are within 2 % of the lid's speed of Ghia's 17 points", async () => {
  const { code, stdout, stderr } = await start(process.execPath, [join(EXAMPLE, "check.mjs")]).ended;
  expect(stderr).toBe("");
  const rows = comparedRows(stdout);
  expect(rows).toHaveLength(34);
  // Two of the table's numbers, so that an empty or altered one is noticed.
  expect(rows.map(([, ghia]) => ghia)).toEqual(expect.arrayContaining([-0.2109, -0.24533]));
  for (const [place, ghia = Number.NaN, ours = Number.NaN] of rows)
    expect(Math.abs(ours - ghia), `at ${place}`).toBeLessThan(0.02);
  expect(stdout).not.toContain("FAIL");
  expect(stdout.match(/^ok /gm)).toHaveLength(8);
  expect(code).toBe(0);
}, 120_000);

test("the check fails on a grid that is too coarse, and on a solver that does not end well", async () => {
  const coarse = await start(process.execPath, [join(EXAMPLE, "check.mjs"), "--grid", "6"]).ended;
  expect(coarse.stdout).toContain("FAIL u(y) against Ghia");
  expect(coarse.code).toBe(1);
  const broken = await start(process.execPath, [join(EXAMPLE, "check.mjs"), "--grid", "none"]).ended;
  expect(broken.code).toBe(2);
});

test.each([
  { reynolds: "1", atLeast: 0 },
  { reynolds: "10000", atLeast: 0.01 },
])("at Reynolds number $reynolds the flow stays within the lid's speed", async ({ reynolds, atLeast }) => {
  const out = folder();
  const { code } = await solve(["--reynolds", reynolds, "--grid", "16", "--end-time", "10", "--out", out]);
  expect(code).toBe(0);
  const { uMin } = readResult(out) as { uMin: { value: number } };
  expect(uMin.value).toBeLessThan(-atLeast);
  expect(uMin.value).toBeGreaterThan(-1);
});

test("an odd grid, whose middle is no cell face, has the same profiles as its even neighbour", async () => {
  const results = await Promise.all(
    ["24", "25"].map(async (grid) => {
      const out = folder();
      await solve(["--grid", grid, "--end-time", "5", "--out", out]);
      return readResult(out) as Record<"uMin" | "vMin" | "vMax", { at: number; value: number }>;
    }),
  );
  const [even, odd] = results;
  for (const name of ["uMin", "vMin", "vMax"] as const) {
    expect(odd?.[name].value).toBeCloseTo(even?.[name].value ?? Number.NaN, 2);
    expect(odd?.[name].at).toBeCloseTo(even?.[name].at ?? Number.NaN, 1);
  }
});

const NUMBER = "-?\\d+(?:\\.\\d+)?(?:e[+-]\\d{2})?";
const BLOCK = [
  "Time = N",
  "",
  "Courant Number mean: N max: N",
  "ICPCG:  Solving for Ux, Initial residual = N, Final residual = N, No Iterations N",
  "ICPCG:  Solving for Uy, Initial residual = N, Final residual = N, No Iterations N",
  "ICPCG:  Solving for p, Initial residual = N, Final residual = N, No Iterations N",
  "time step continuity errors : sum local = N, global = N, cumulative = N",
  "ExecutionTime = N s  ClockTime = N s",
].join("\n");

test("the log is one whole block of known shape for each step, between a banner and End", async () => {
  const out = folder();
  const { stdout, stderr } = await solve(["--grid", "8", "--out", out]);
  expect(stderr).toBe("");
  const [head = "", loop = ""] = stdout.split("\nStarting time loop\n\n");
  for (const line of [/^Build {2}: /m, /^Exec {3}: solver\.mjs /m, /^Case {3}: \//m])
    expect(head).toMatch(line);
  expect(head).not.toContain("OpenFOAM");
  const block = new RegExp(`^${BLOCK.replaceAll("N ", `${NUMBER} `).replaceAll(/N(?=$|,)/gm, NUMBER)}\n\n`);
  let rest = loop;
  let steps = 0;
  for (; block.test(rest); steps++) rest = rest.replace(block, "");
  const result = readResult(out) as { steps: number; residuals: Record<string, number> };
  expect(rest).toBe(`\nPROJECTION solution converged in ${steps} iterations\n\nEnd\n\n`);
  expect(result.steps).toBe(steps);
});

test("residuals are those of the solves: they fall in each, go to nothing as the flow settles, and are the result's", async () => {
  const out = folder();
  const { stdout } = await solve(["--grid", "16", "--out", out]);
  const lines = [
    ...stdout.matchAll(/for (\S+), Initial residual = (\S+), Final residual = (\S+), No It\S+ (\d+)/g),
  ];
  for (const [line, , initial, final, iterations] of lines) {
    if (Number(iterations) > 0) expect(Number(final), line).toBeLessThan(Number(initial));
    else expect(final, line).toBe(initial);
  }
  expect(lines.slice(0, 3).map(([, field, initial]) => [field, initial])).toEqual([
    ["Ux", "1"],
    ["Uy", "0"],
    ["p", "1"],
  ]);
  const { residuals, converged } = readResult(out) as {
    residuals: Record<string, number>;
    converged: boolean;
  };
  expect(converged).toBe(true);
  for (const [, field = "", initial] of lines.slice(-3)) {
    expect(Number(initial)).toBeLessThan(1e-6);
    expect(Number(initial) / (residuals[field] ?? 0)).toBeCloseTo(1, 4);
  }
});

test("SIGTERM ends it after the step, with fields, checkpoint and a result that says so", async () => {
  const out = folder();
  const running = startSolver(["--grid", "32", "--end-time", "1000", "--steady", "0", "--out", out]);
  await running.steps(10);
  running.child.kill("SIGTERM");
  const { code, stdout } = await running.ended;
  expect(code).toBe(143);
  const result = readResult(out) as { steps: number };
  expect(result).toMatchObject({ stopped: true, converged: false, diverged: false });
  expect(stdout.match(/^Time = /gm)).toHaveLength(result.steps);
  expect(stdout).toMatch(/ClockTime = \d+ s\n\nStopped by SIGTERM at time \S+: .* written\n$/);
  expect(JSON.parse(readText(out, "checkpoint.json"))).toMatchObject({ step: result.steps });
  expect(readText(out, "fields/U.csv").trimEnd().split("\n")).toHaveLength(32 * 32 + 1);
  expect(readText(out, "fields/p.csv").trimEnd().split("\n")).toHaveLength(32 * 32 + 1);
  expect(readdirSync(out).sort()).toEqual([
    "centreline_u.csv",
    "centreline_v.csv",
    "checkpoint.json",
    "fields",
    "result.json",
  ]);
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "a run that %s ended goes on from its checkpoint to the very bits of an undisturbed run",
  async (signal) => {
    const argv = ["--grid", "16", "--end-time", "40", "--steady", "0", "--checkpoint-every", "7"];
    const [whole, broken] = [folder(), folder()];
    const undisturbed = solve([...argv, "--out", whole]);
    const running = startSolver([...argv, "--out", broken]);
    await running.steps(20);
    running.child.kill(signal);
    await running.ended;
    const checkpoint = join(broken, "checkpoint.json");
    const { step } = JSON.parse(readText(broken, "checkpoint.json")) as { step: number };
    const rest = await solve([...argv, "--restart", checkpoint, "--out", broken]);
    expect(rest.stderr).toBe("");
    expect(rest.stdout).toContain(`Going on after step ${step}\n`);
    const { stdout } = await undisturbed;
    expect(stdout.match(/^Time = /gm)).toHaveLength(640);
    expect(rest.stdout.match(/^Time = /gm)).toHaveLength(640 - step);
    for (const name of ["checkpoint.json", "result.json", "fields/U.csv", "fields/p.csv", "centreline_u.csv"])
      expect(readText(broken, name) === readText(whole, name), name).toBe(true);
  },
);

test.each([
  [["--reynolds", "0"], '--reynolds must be a number from 1 to 10000, not "0"'],
  [["--reynolds", "fast"], '--reynolds must be a number from 1 to 10000, not "fast"'],
  [["--grid", "33.5"], '--grid must be a whole number from 4 to 512, not "33.5"'],
  [["--grid", ""], '--grid must be a whole number from 4 to 512, not ""'],
  [["--end-time=-1"], "--end-time must be a number from 0.001"],
  [["--no-such"], "--no-such"],
  [["extra"], "extra"],
  [["--restart", "nowhere.json"], "cannot read the checkpoint nowhere.json"],
])("%j is refused with exit status 2 before anything is written", async (argv, message) => {
  const out = folder();
  const { code, stdout, stderr } = await solve([...argv, "--out", out]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).toContain("usage:");
  expect(stdout).toBe("");
  expect(readdirSync(out)).toEqual([]);
});

test("a checkpoint that is damaged, or of another case, is refused", async () => {
  const out = folder();
  await solve(["--grid", "8", "--end-time", "1", "--out", out]);
  const path = join(out, "checkpoint.json");
  const other = await solve(["--restart", path, "--reynolds", "200", "--out", out]);
  expect(other).toMatchObject({ code: 2, stdout: "" });
  expect(other.stderr).toContain("fixes Reynolds number 100: leave that option out");
  const text = readText(out, "checkpoint.json");
  for (const damaged of [text.slice(0, -9), text.replace('"grid":8', '"grid":9'), "null", "{}"]) {
    writeFileSync(path, damaged);
    expect(await solve(["--restart", path, "--out", out])).toMatchObject({ code: 2, stdout: "" });
  }
});

test("a time step that is far too large makes it diverge: nan in the log, exit status 1, no checkpoint", async () => {
  const out = folder();
  const { code, stdout, stderr } = await solve([
    "--grid",
    "16",
    "--dt",
    "1",
    "--end-time",
    "500",
    "--out",
    out,
  ]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^cavity: diverged at time \S+, step \d+: .* Try a smaller --dt than 1 /);
  expect(stdout).toMatch(/Final residual = nan, No Iterations \d+\n/);
  expect(stdout).not.toMatch(/^End$|converged/m);
  expect(readResult(out)).toMatchObject({ diverged: true, converged: false, residuals: null });
  expect(existsSync(join(out, "fields"))).toBe(false);
});

test("arguments come from Tailrace's environment too, and the command line wins", async () => {
  const cwd = folder();
  const env = { TAILRACE_ARG_REYNOLDS: "50", TAILRACE_ARG_ENDTIME: "0.5", TAILRACE_ARG_GRID: "12" };
  await solve(["--grid", "8"], { cwd, env });
  expect(readResult(cwd)).toMatchObject({ reynolds: 50, finalTime: 0.5, grid: 8 });
  const refused = await solve([], { cwd, env: { TAILRACE_ARG_GRID: "many" } });
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("TAILRACE_ARG_GRID must be a whole number");
});

test("a copy of the script finds the solver by TAILRACE_CONFIG_DIR, says so without, and hands a stop on", async () => {
  const cwd = folder();
  const script = join(cwd, "copy.sh");
  copyFileSync(join(EXAMPLE, "run_cfd_case.sh"), script);
  chmodSync(script, 0o700);
  const lost = await start(script, [], { cwd }).ended;
  expect(lost.code).toBe(2);
  expect(lost.stderr).toContain("TAILRACE_CONFIG_DIR must name the folder");
  const env = { TAILRACE_CONFIG_DIR: EXAMPLE, TAILRACE_ARG_GRID: "16", TAILRACE_ARG_ENDTIME: "1000" };
  const running = start(script, ["--steady", "0"], { cwd, env });
  await running.steps(3);
  running.child.kill("SIGTERM");
  expect(await running.ended).toMatchObject({ code: 143, signal: null });
  expect(readResult(cwd)).toMatchObject({ stopped: true, grid: 16 });
});
