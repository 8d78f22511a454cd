import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { crashTool } from "../support/crash-run.ts";
import { type Answer, type CallOptions, clientOf } from "../support/front-desk.ts";
import { sseData } from "../support/sse.ts";
import { createTask, eventOf, followEvents, readAgain, resultOf, seqOf } from "../support/stubborn-client.ts";
import { startTopology, type Topology } from "../support/topology.ts";

const EXISTING = "dev.tailrace/existing";
const PROCESSES = 4;
const CALLS_EACH = 50;

let topology: Topology;
beforeAll(async () => {
  topology = await startTopology({ tools: { job: crashTool(14) }, replicas: 2 });
}, 60_000);
afterAll(() => topology.stop(), 60_000);

const replica = (index: number) => () => topology.servers[index]?.url() ?? "";

/** Waits for the end and answers the last tasks/get. */
async function ended(taskId: string): Promise<JsonObject> {
  await followEvents(replica(0), taskId).done;
  return resultOf(replica(0), "tasks/get", { taskId });
}

/** A process that is about to make its calls, and goes at a word. */
async function caller(args: JsonObject): Promise<{ go(): Promise<Answer[]> }> {
  const script = fileURLToPath(new URL("../support/many-calls.ts", import.meta.url));
  const urls = topology.servers.map((server) => server.url());
  const argv = ["--import", "tsx", script, String(CALLS_EACH), "job", JSON.stringify(args), ...urls];
  const child = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  await once(lines, "line");
  return {
    async go() {
      const answered = once(lines, "line");
      child.stdin.write("go\n");
      const [line] = await answered;
      return JSON.parse(String(line)) as Answer[];
    },
  };
}

test("200 calls with one key from 4 processes to 2 replicas make one task and start one job", async () => {
  const args = { run: "one-key", idempotencyKey: "one key for all" };
  const callers = await Promise.all(Array.from({ length: PROCESSES }, () => caller(args)));
  const answers = (await Promise.all(callers.map((one) => one.go()))).flat();
  expect(answers).toHaveLength(PROCESSES * CALLS_EACH);
  for (const { status, error } of answers)
    expect({ status, error }).toEqual({ status: 200, error: undefined });
  const results = answers.map(({ result }) => result);
  expect(new Set(results.map((result) => result["resultType"]))).toEqual(new Set(["task"]));
  const ids = new Set(results.map((result) => result["taskId"]));
  expect(ids.size).toBe(1);
  const existing = results.filter((result) => metaOf(result)[EXISTING] === true);
  expect(existing).toHaveLength(PROCESSES * CALLS_EACH - 1);
  const [taskId] = ids;
  expect(await ended(String(taskId))).toMatchObject({ status: "completed" });
  expect(topology.starts("one-key")).toBe(1);
});

test("one key of two callers makes two tasks, and neither finds the other's anywhere", async () => {
  const call = { name: "job", arguments: { run: "two-callers", idempotencyKey: "shared" } };
  const alice = await resultOf(replica(0), "tools/call", call, { who: "alice" });
  const bob = await resultOf(replica(1), "tools/call", call, { who: "bob" });
  expect(alice["taskId"]).not.toBe(bob["taskId"]);
  expect([metaOf(alice)[EXISTING], metaOf(bob)[EXISTING]]).toEqual([undefined, undefined]);
  const unknown = `t_${"A".repeat(32)}`;
  for (const [who, others] of [
    ["alice", bob],
    ["bob", alice],
  ] as const) {
    for (const [method, paramsOf] of LOOKUPS) {
      const theirs = await refusal(method, paramsOf(String(others["taskId"])), { who });
      expect(theirs, method).toEqual(await refusal(method, paramsOf(unknown), { who }));
      expect(theirs).toMatchObject({ status: 200, code: -32602 });
      expect(theirs.message).toMatch(/^There is no such (task|resource)\.$/);
    }
  }
  // What the other one tried left both as they were.
  for (const [who, task] of [
    ["alice", alice],
    ["bob", bob],
  ] as const) {
    const doc = await endedOf(who, String(task["taskId"]));
    expect(doc).toMatchObject({ taskId: task["taskId"], status: "completed" });
  }
  expect(topology.starts("two-callers")).toBe(2);
});

const LOOKUPS: [string, (taskId: string) => JsonObject][] = [
  ["tasks/get", (taskId) => ({ taskId })],
  ["tasks/update", (taskId) => ({ taskId, inputResponses: { q: { action: "accept" } } })],
  ["tasks/cancel", (taskId) => ({ taskId })],
  ["tasks/stream", (taskId) => ({ taskId })],
  ["tasks/stream", (taskId) => ({ taskId, after: 0 })],
  ["resources/read", (taskId) => ({ uri: `tailrace://task/${taskId}/log` })],
];

async function refusal(method: string, params: JsonObject, options: CallOptions) {
  const { status, error } = await clientOf(replica(0)()).call(method, params, options);
  return { status, code: error?.code, message: error?.message, data: error?.data };
}

async function endedOf(who: "alice" | "bob", taskId: string): Promise<JsonObject> {
  const response = await clientOf(replica(1)()).open("tasks/stream", { taskId }, { who });
  await response.text();
  return resultOf(replica(1), "tasks/get", { taskId }, { who });
}

test("a stream that changes the replica after every event has no gap, and both replicas tell the same", async () => {
  const task = await createTask(replica(0), "job", { run: "replicas", idempotencyKey: "replicas" });
  const taskId = String(task["taskId"]);
  const seen: string[] = [];
  const live: JsonObject[] = [];
  for (let hop = 0; eventTypeOf(seen.at(-1)) !== "task.ended"; hop += 1) {
    const last = seen.at(-1);
    const params = last === undefined ? { taskId } : { taskId, after: seqOf(last) };
    seen.push(await firstEvent(replica(hop % 2)(), params));
    if (eventTypeOf(seen.at(-1)) === "job.started") {
      for (const index of [0, 1]) live.push(await resultOf(replica(index), "tasks/get", { taskId }));
    }
  }
  expect(seen.map(seqOf)).toEqual(seen.map((_, index) => index));
  for (const index of [0, 1]) expect(await readAgain(replica(index), taskId)).toEqual(seen);
  expect(seen.length).toBeGreaterThan(60);
  expect(live).toHaveLength(2);
  for (const doc of live)
    expect(doc).toMatchObject({ taskId, status: "working", createdAt: task["createdAt"] });
  const [onA, onB] = [0, 1].map((index) => resultOf(replica(index), "tasks/get", { taskId }));
  expect(await onA).toEqual(await onB);
  expect(await onA).toMatchObject({ status: "completed" });
});

/** The next event of a stream that is left as soon as it has come. */
async function firstEvent(url: string, params: JsonObject): Promise<string> {
  const leave = new AbortController();
  try {
    const response = await clientOf(url).open("tasks/stream", params, { signal: leave.signal });
    for await (const text of sseData(response)) return text;
    throw new Error(`a stream without an event: ${JSON.stringify(params)}`);
  } finally {
    leave.abort();
  }
}

function eventTypeOf(text: string | undefined): string | null {
  return text === undefined ? null : eventOf(text).type;
}

function metaOf(result: JsonObject): JsonObject {
  return (result["_meta"] ?? {}) as JsonObject;
}
