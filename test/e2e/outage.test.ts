import { writeFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { crashTool, expectedLog, faultsOf, runTask } from "../support/crash-run.ts";
import { eventually } from "../support/eventually.ts";
import { type Answer, clientOf } from "../support/front-desk.ts";
import { createTask, followEvents, resultOf } from "../support/stubborn-client.ts";
import { startTopology, type Topology } from "../support/topology.ts";

const ANSWER_MS = 2_500;
const PAUSE_MS = 3_000;
const CALLERS = 8;
const STOP_AFTER = 16;
const LINES = 14;
/** The job waits here until the test lets it go on. */
const GATE = 'while [ ! -e "$STARTS.$TAILRACE_ARG_RUN" ]; do sleep 0.05; done';

const ECHO: JsonObject = {
  input: { run: { type: "string" } },
  run: { script: '#!/bin/sh\necho "$TAILRACE_ARG_RUN" >> "$STARTS"\n' },
  resources: { walltime: "1m" },
};

let topology: Topology;
const url = () => topology.server.url();
afterEach(() => topology.stop(), 60_000);

test("kill -9 of every process and of Redis at once, twice while a job runs: it is taken up again and nothing is lost", {
  timeout: 120_000,
}, async () => {
  topology = await startTopology({ tools: { job: crashTool(LINES, GATE) } });
  const open = (run: string) => writeFileSync(`${topology.startsFile}.${run}`, "");
  const reference = await runTask(topology, "undisturbed", async () => open("undisturbed"));
  const report = await runTask(topology, "disturbed", async (moments) => {
    for (const lingerMs of [300, 700]) {
      expect(await moments.within("running", lingerMs)).toBe(true);
      await topology.killAll();
      await topology.startAll();
    }
    open("disturbed");
  });
  expect(faultsOf(report, reference)).toEqual([]);
  expect(report.log).toBe(expectedLog(LINES));
  expect(report.breaks).toBeGreaterThanOrEqual(1);
});

test("while Redis hangs every call is refused in time as one to be repeated, and afterwards all goes on", {
  timeout: 120_000,
}, async () => {
  topology = await startTopology({ tools: { job: crashTool(LINES), echo: ECHO } });
  const past = await createTask(url, "echo", { run: "past", idempotencyKey: "past" });
  await followEvents(url, String(past["taskId"])).done;
  const running = await createTask(url, "job", { run: "running", idempotencyKey: "running" });
  const taskId = String(running["taskId"]);
  const reader = followEvents(url, taskId);
  await eventually(() => expect(topology.starts("running")).toBe(1));
  const redis = await topology.redisPid();
  process.kill(redis, "SIGSTOP");
  const resumed = new Promise<void>((resolve) => {
    setTimeout(() => {
      process.kill(redis, "SIGCONT");
      resolve();
    }, PAUSE_MS);
  });
  const calls: [string, JsonObject][] = [
    ["tasks/get", { taskId }],
    ["tasks/stream", { taskId }],
    ["resources/read", { uri: `tailrace://task/${taskId}/log` }],
    ["tasks/update", { taskId: past["taskId"] ?? "" }],
    ["tasks/cancel", { taskId: past["taskId"] ?? "" }],
    ["tools/call", { name: "echo", arguments: { run: "hung", idempotencyKey: "hung" } }],
  ];
  try {
    await Promise.all(calls.map(([method, params]) => expectRefusal(method, params)));
  } finally {
    await resumed;
  }
  const hung = await createTask(url, "echo", { run: "hung", idempotencyKey: "hung" });
  await followEvents(url, String(hung["taskId"])).done;
  await reader.done;
  expect(await resultOf(url, "tasks/get", { taskId })).toMatchObject({ status: "completed" });
  expect(["past", "running", "hung"].map((run) => topology.starts(run))).toEqual([1, 1, 1]);
});

async function expectRefusal(method: string, params: JsonObject): Promise<void> {
  const startedAt = performance.now();
  const { status, error } = await clientOf(url()).call(method, params);
  expect(performance.now() - startedAt, method).toBeLessThan(ANSWER_MS);
  expect({ method, status, error }).toMatchObject({
    status: 503,
    error: { code: -32603, data: { reason: "store_unavailable", retryable: true } },
  });
}

test("creates that were on their way when Redis hung, sent again with their keys, are one task and one job each", {
  timeout: 120_000,
}, async () => {
  topology = await startTopology({ tools: { echo: ECHO } });
  const redis = await topology.redisPid();
  const answers = new Map<string, Answer>();
  const create = (key: string) =>
    clientOf(url()).call("tools/call", { name: "echo", arguments: { run: key, idempotencyKey: key } });
  // Without a pause, so that the stop finds some of them between claim and answer.
  const callers = Array.from({ length: CALLERS }, async (_, caller) => {
    for (let call = 0; ; call += 1) {
      const key = `key-${caller}-${call}`;
      const answer = await create(key);
      answers.set(key, answer);
      if (answers.size === STOP_AFTER) process.kill(redis, "SIGSTOP");
      if (answer.status !== 200) return;
    }
  });
  await Promise.all(callers).finally(() => process.kill(redis, "SIGCONT"));
  const refused = [...answers.values()].filter(({ status }) => status === 503);
  expect(refused).toHaveLength(CALLERS);
  const ids = new Set<string>();
  for (const [key, { result }] of answers) {
    const taskId = String((await createTask(url, "echo", { run: key, idempotencyKey: key }))["taskId"]);
    ids.add(taskId);
    if (result !== undefined) expect(taskId).toBe(result["taskId"]);
  }
  expect(ids.size).toBe(answers.size);
  for (const taskId of ids) await followEvents(url, taskId).done;
  for (const key of answers.keys()) expect(topology.starts(key), key).toBe(1);
});
