import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { eventually } from "../support/eventually.ts";
import { type TestDirectory, testDirectory } from "../support/jobs.ts";
import { createTask, followEvents, resultOf } from "../support/stubborn-client.ts";
import { startTopology, type Topology } from "../support/topology.ts";

const TOOLS: Record<string, JsonObject> = {
  echo: {
    input: { run: { type: "string" } },
    run: { script: '#!/bin/sh\necho "$TAILRACE_ARG_RUN" >> "$STARTS"\n' },
    resources: { walltime: "1m" },
  },
  fill: {
    run: { script: '#!/bin/sh\necho fill >> "$STARTS"\ncat /dev/zero > filler.dat || exit 7\n' },
    outputs: ["*.dat"],
    resources: { walltime: "1m" },
  },
};

let directory: TestDirectory;
let workdir: string;
let topology: Topology | null = null;

beforeEach(() => {
  directory = testDirectory();
  workdir = directory.path;
});
afterEach(async () => {
  await topology?.stop();
  topology = null;
  spawnSync("umount", ["-l", workdir]);
  directory.remove();
}, 60_000);

/** A small file system of its own under the target's workdir. */
function mount(options: string): void {
  const done = spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", workdir], { encoding: "utf8" });
  expect(done.stderr).toBe("");
}

async function open(): Promise<() => string> {
  const started = await startTopology({ tools: TOOLS, target: { workdir } });
  topology = started;
  return () => started.server.url();
}

async function statusOf(url: () => string, taskId: string): Promise<string> {
  return String((await resultOf(url, "tasks/get", { taskId }))["statusMessage"]);
}

/** Creates a task that cannot be submitted, and waits until its message says why and what to do. */
async function stuckTask(url: () => string, run: string, why: RegExp): Promise<string> {
  const task = await createTask(url, "echo", { run, idempotencyKey: run });
  const taskId = String(task["taskId"]);
  await eventually(async () => expect(await statusOf(url, taskId)).toMatch(why), 30_000);
  return taskId;
}

/** Cancels a task whose job never was, and sees it end. */
async function giveUp(url: () => string, taskId: string): Promise<void> {
  await resultOf(url, "tasks/cancel", { taskId });
  await followEvents(url, taskId).done;
  expect(await resultOf(url, "tasks/get", { taskId })).toMatchObject({ status: "cancelled" });
}

test("a full disk keeps a job from being submitted, the task says so and can be cancelled, and room lets it run", {
  timeout: 120_000,
}, async () => {
  mount("size=256k");
  const url = await open();
  const filler = join(workdir, "filler");
  spawnSync("sh", ["-c", 'cat /dev/zero > "$1"', "sh", filler]);
  const given = await stuckTask(url, "given-up", /here: the disk is full.*free/);
  const waits = await stuckTask(url, "waits", /here: the disk is full.*free/);
  await giveUp(url, given);
  rmSync(filler);
  await followEvents(url, waits).done;
  expect(await resultOf(url, "tasks/get", { taskId: waits })).toMatchObject({
    status: "completed",
    result: { isError: false },
  });
  expect([topology?.starts("given-up"), topology?.starts("waits")]).toEqual([0, 1]);
});

test("a job that fills the disk ends its task with its own exit code and what it said", {
  timeout: 120_000,
}, async () => {
  mount("size=1m");
  const url = await open();
  const task = await createTask(url, "fill", { idempotencyKey: "fill" });
  const taskId = String(task["taskId"]);
  await followEvents(url, taskId).done;
  const doc = await resultOf(url, "tasks/get", { taskId });
  expect(doc).toMatchObject({
    status: "completed",
    result: { isError: true, structuredContent: { outcome: { kind: "failed", exitCode: 7 } } },
  });
  expect(topology?.starts("fill")).toBe(1);
});

test("a read-only workdir keeps jobs from being submitted, the task says so, and the cure lets it run", {
  timeout: 120_000,
}, async () => {
  mount("size=1m,ro");
  const url = await open();
  const given = await stuckTask(url, "given-up", /here: the file system is read-only.*writable/);
  const waits = await stuckTask(url, "waits", /here: the file system is read-only.*writable/);
  await giveUp(url, given);
  expect(spawnSync("mount", ["-o", "remount,rw", workdir]).status).toBe(0);
  await followEvents(url, waits).done;
  expect(await resultOf(url, "tasks/get", { taskId: waits })).toMatchObject({ result: { isError: false } });
  expect([topology?.starts("given-up"), topology?.starts("waits")]).toEqual([0, 1]);
});

test("a workdir that becomes read-only refuses what comes then, and a task that had ended still reads", {
  timeout: 120_000,
}, async () => {
  mount("size=1m");
  const url = await open();
  const before = await createTask(url, "echo", { run: "before", idempotencyKey: "before" });
  await followEvents(url, String(before["taskId"])).done;
  expect(spawnSync("mount", ["-o", "remount,ro", workdir]).status).toBe(0);
  const given = await stuckTask(url, "given-up", /here: the file system is read-only.*writable/);
  await giveUp(url, given);
  expect(await resultOf(url, "tasks/get", { taskId: before["taskId"] ?? "" })).toMatchObject({
    status: "completed",
  });
});
