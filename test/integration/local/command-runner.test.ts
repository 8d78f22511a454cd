import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { run, spawnDetached } from "../../../adapters/schedulers/shared/command-runner.ts";
import { eventually } from "../../support/eventually.ts";
import { NEVER, type TestDirectory, testDirectory } from "../../support/jobs.ts";

let directory: TestDirectory;
beforeEach(() => {
  directory = testDirectory();
});
afterEach(() => directory.remove());

const OPTIONS = { timeoutMs: 10_000, signal: NEVER, maxBytes: 100_000 };
const cookie = () => ({ RUNNER_COOKIE: directory.path, PATH: process.env["PATH"] ?? "" });
const alive = () =>
  spawnSync(
    "sh",
    ["-c", 'grep -lF "RUNNER_COOKIE=$1" /proc/[0-9]*/environ 2>/dev/null', "sh", directory.path],
    {
      encoding: "utf8",
    },
  ).stdout;

test("exit code, output and signal are values, and arguments stay as they are", async () => {
  const odd = ["-x", "a b", "$(id)", "q'\"", "line\nbreak", ""];
  const result = await run(["sh", "-c", 'printf "%s\\0" "$@"; echo err >&2; exit 3', "sh", ...odd], OPTIONS);
  expect(result).toMatchObject({
    exitCode: 3,
    signal: null,
    stderr: "err\n",
    timedOut: false,
    notStarted: null,
  });
  expect(result.stdout.split("\0")).toEqual([...odd, ""]);
  expect(await run(["sh", "-c", "kill -TERM $$"], OPTIONS)).toMatchObject({
    exitCode: null,
    signal: "SIGTERM",
  });
});

test("stdin is handed over, and without one it is empty", async () => {
  expect((await run(["cat"], { ...OPTIONS, stdin: "héllo\n" })).stdout).toBe("héllo\n");
  expect((await run(["cat"], OPTIONS)).stdout).toBe("");
});

test("a program that is not there did not start", async () => {
  const result = await run(["/no/such/program"], OPTIONS);
  expect(result.exitCode).toBeNull();
  expect(result.notStarted).toMatch(/ENOENT/);
});

test("a given environment is the whole environment", async () => {
  const { stdout } = await run(["/usr/bin/env"], { ...OPTIONS, env: { ONLY: "this" } });
  expect(stdout).toBe("ONLY=this\n");
});

test.each([
  ["a child", "sleep 300"],
  ["a child that ignores TERM and its children", "trap '' TERM; sleep 300 & sleep 300; sleep 300"],
])("an abort returns within a second and leaves nothing of %s", async (_, script) => {
  const stop = new AbortController();
  const answer = run(["sh", "-c", script], { ...OPTIONS, env: cookie(), signal: stop.signal });
  await eventually(() => expect(alive()).not.toBe(""));
  const begun = performance.now();
  stop.abort();
  expect(await answer).toMatchObject({ aborted: true, timedOut: false });
  expect(performance.now() - begun).toBeLessThan(1000);
  await eventually(() => expect(alive()).toBe(""));
});

test("the deadline ends a command whose grandchild holds the pipe", async () => {
  const begun = performance.now();
  const result = await run(["sh", "-c", "setsid sleep 2 & echo begun"], { ...OPTIONS, timeoutMs: 300 });
  expect(result).toMatchObject({ timedOut: true, aborted: false });
  expect(performance.now() - begun).toBeLessThan(1500);
});

test("an abort before the start starts nothing", async () => {
  const marker = join(directory.path, "ran");
  const result = await run(["touch", marker], { ...OPTIONS, signal: AbortSignal.abort() });
  expect(result.notStarted).not.toBeNull();
  expect(() => readFileSync(marker)).toThrow();
});

test("a flood of output does not keep the deadline from being kept", async () => {
  const begunMs = performance.now();
  const result = await run(["yes"], { ...OPTIONS, timeoutMs: 200, maxBytes: 2 ** 30 });
  expect(result).toMatchObject({ timedOut: true, tooMuchOutput: false });
  expect(performance.now() - begunMs).toBeLessThan(1500);
});

test("too much output ends the command, and what came before is there", async () => {
  const result = await run(["sh", "-c", "while :; do echo 0123456789; done"], { ...OPTIONS, maxBytes: 1000 });
  expect(result.tooMuchOutput).toBe(true);
  expect(result.stdout.length).toBe(1000);
});

test("a detached process has a session of its own and exactly the environment given", async () => {
  const out = join(directory.path, "out");
  const script = 'env > "$1"; cut -d" " -f5,6 /proc/self/stat >> "$1"; exit 4';
  const launched = spawnDetached(["/bin/sh", "-c", script, "sh", out], {
    env: { A: "1", PATH: "/usr/bin:/bin" },
    cwd: "/",
  });
  expect(await launched.exited).toEqual({ exitCode: 4, problem: null });
  const text = readFileSync(out, "utf8");
  expect(text).toContain("A=1\n");
  expect(text).not.toContain("HOME=");
  expect(text).toContain(`${launched.pid} ${launched.pid}\n`);
  const missing = spawnDetached(["/no/such"], { env: {}, cwd: "/" });
  expect((await missing.exited).problem).toMatch(/ENOENT/);
});
