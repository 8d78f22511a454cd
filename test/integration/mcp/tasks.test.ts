import { GetTaskResultV2Schema } from "@modelcontextprotocol/ext-tasks/core/v2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NO_FINDINGS } from "../../../src/domain/findings.ts";
import { concludeOutcome, outcomeWithoutJob } from "../../../src/domain/outcome.ts";
import { type FrontDesk, startFrontDesk, toolOf } from "../../support/front-desk.ts";
import { jobEnd, RESULT, sawEnd, sawGone, sawQueued, sawRunning, submitted } from "../../support/records.ts";

let desk: FrontDesk;
beforeAll(async () => {
  desk = await startFrontDesk({
    tools: [
      toolOf(),
      toolOf({ name: "elsewhere", target: "gone" }),
      toolOf({ name: "keyed", idempotency: "required" }),
      toolOf({ name: "windowed", idempotency: "arguments" }),
    ],
    readLog: async (_, source, { offset, maxBytes }) => {
      const bytes = Buffer.from(`${source}: \u001b[31mrésidu 1e-3\r\n`).subarray(offset, offset + maxBytes);
      return { bytes, atEnd: true };
    },
  });
});
afterAll(() => desk.stop());

const get = async (taskId: string) => (await desk.call("tasks/get", { taskId })).result;
const LEASED = { kind: "attempt_leased", attempt: 1, leaseUntilMs: 9e12 } as const;

async function running(): Promise<string> {
  const taskId = await desk.create("run_case");
  await desk.tell(taskId, LEASED, submitted, sawQueued, sawRunning());
  return taskId;
}

async function ended(
  fields: Parameters<typeof jobEnd>[0] = {},
  result = RESULT,
  isOurs = false,
): Promise<string> {
  const taskId = await running();
  const outcome = concludeOutcome(jobEnd(fields), NO_FINDINGS, isOurs);
  await desk.tell(taskId, sawEnd(fields), { kind: "concluded", outcome, result });
  return taskId;
}

describe("creating", () => {
  test("T3 T4 the answer to a call is flat, and tasks/get finds the task at once", async () => {
    const { result } = await desk.call("tools/call", { name: "run_case", arguments: { n: 1 } });
    expect(result).toEqual({
      resultType: "task",
      taskId: expect.stringMatching(/^t_[A-Za-z0-9_-]{24,}$/),
      status: "working",
      statusMessage: "accepted, about to be submitted to here",
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      lastUpdatedAt: expect.stringMatching(/Z$/),
      ttlMs: 120_000,
      pollIntervalMs: 1000,
      _meta: { "io.modelcontextprotocol/serverInfo": expect.anything() },
    });
    const taskId = result["taskId"] as string;
    expect(GetTaskResultV2Schema.parse(await get(taskId))).toMatchObject({ taskId, status: "working" });
    expect(desk.hastened).toContain(`submit:${taskId}`);
  });

  test("T2 a task member in the call is ignored", async () => {
    const { result } = await desk.call("tools/call", { name: "run_case", task: { ttl: 1 } });
    expect(result).toMatchObject({ resultType: "task", ttlMs: 120_000 });
  });

  test("the same key with the same arguments, in any order, finds the task, and says so", async () => {
    const call = (args: Record<string, number | string>) =>
      desk.call("tools/call", { name: "run_case", arguments: { idempotencyKey: "k1", ...args } });
    const first = await call({ a: 1, b: 2 });
    const again = await call({ b: 2, a: 1 });
    expect(again.result["taskId"]).toBe(first.result["taskId"]);
    expect(first.result["_meta"]).not.toHaveProperty("dev.tailrace/existing");
    expect(again.result["_meta"]).toHaveProperty("dev.tailrace/existing", true);
    const other = await call({ a: 2, b: 2 });
    expect(other).toMatchObject({ status: 200, error: { code: -32602, data: { reason: "key_conflict" } } });
    expect(JSON.stringify(other.error)).not.toContain(first.result["taskId"]);
  });

  test("a key is the caller's and the tool's own", async () => {
    const args = { idempotencyKey: "shared" };
    const alice = await desk.create("run_case", args);
    expect(await desk.create("run_case", args, { who: "bob" })).not.toBe(alice);
    expect(await desk.create("keyed", args)).not.toBe(alice);
  });

  test("a key in _meta counts as the argument does, and two that differ are refused", async () => {
    const meta = { "dev.tailrace/idempotencyKey": "k2" };
    const first = await desk.create("run_case", {}, { meta });
    expect(await desk.create("run_case", { idempotencyKey: "k2" })).toBe(first);
    expect(await desk.create("run_case", { idempotencyKey: "k2" }, { meta })).toBe(first);
    const call = { name: "run_case", arguments: { idempotencyKey: "k3" } };
    expect(await desk.call("tools/call", call, { meta })).toMatchObject({ error: { code: -32602 } });
  });

  test("an ended task is still what its key names", async () => {
    const taskId = await desk.create("run_case", { idempotencyKey: "done" });
    await desk.tell(taskId, { kind: "not_submitted", cause: "rejected", reason: "no such partition" });
    const { result } = await desk.call("tools/call", {
      name: "run_case",
      arguments: { idempotencyKey: "done" },
    });
    expect(result).toMatchObject({ taskId, resultType: "task", status: "completed" });
    expect(result).not.toHaveProperty("result");
  });

  test("equal arguments within the window are the same task where the tool says so", async () => {
    const first = await desk.create("windowed", { n: 1 });
    expect(await desk.create("windowed", { n: 1 })).toBe(first);
    expect(await desk.create("windowed", { n: 2 })).not.toBe(first);
  });

  test.each<[string, object, string]>([
    ["no key where one is required", { name: "keyed" }, "key_missing"],
    ["an empty key", { name: "keyed", arguments: { idempotencyKey: "" } }, "invalid_arguments"],
    [
      "a key of 257 characters",
      { name: "keyed", arguments: { idempotencyKey: "x".repeat(257) } },
      "invalid_arguments",
    ],
    ["a key that is a number", { name: "keyed", arguments: { idempotencyKey: 7 } }, "invalid_arguments"],
    ["an unknown tool", { name: "constructor" }, "unknown_tool"],
    ["a NUL character", { name: "run_case", arguments: { s: "a\0b" } }, "invalid_arguments"],
  ])("%s is −32602 and makes nothing", async (_, params, reason) => {
    expect(await desk.call("tools/call", { ...params })).toMatchObject({
      status: 200,
      error: { code: -32602, data: { reason } },
    });
  });

  test("an argument named __proto__ is refused, and names that objects inherit are data", async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_case","arguments":{"__proto__":{"x":1}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`;
    const response = await desk.post(body, {
      "content-type": "application/json",
      authorization: "Bearer token-of-alice",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "run_case",
    });
    expect(await response.json()).toMatchObject({
      error: { code: -32602, data: { reason: "invalid_arguments" } },
    });
    const taskId = await desk.create("run_case", { constructor: "c", toString: "t" });
    expect((await desk.store.readSpec(taskId))?.args).toEqual({ constructor: "c", toString: "t" });
  });

  test("C13 a traceparent goes into the job's specification; text of another form does not", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const traced = await desk.create("run_case", {}, { meta: { traceparent } });
    expect(await desk.store.readSpec(traced)).toMatchObject({ traceparent });
    const untraced = await desk.create("run_case", {}, { meta: { traceparent: "x" } });
    expect(await desk.store.readSpec(untraced)).not.toHaveProperty("traceparent");
  });
});

describe("what a task looks like", () => {
  test("T5 S12 a live task names phase, place, progress and the time that is left", async () => {
    const taskId = await running();
    await desk.append(taskId, [{ type: "metric", payload: { a: 1 } }]);
    const result = await get(taskId);
    expect(GetTaskResultV2Schema.parse(result)).toMatchObject({ status: "working", pollIntervalMs: 1000 });
    expect(result["statusMessage"]).toMatch(/^running \d+s on n1 · step 1 of 10 · ETA (1m|59s)$/);
  });

  test("T5 T6 a job that exits 3 has completed, with isError, its outcome and the tail of its output", async () => {
    const taskId = await ended({ exitCode: 3 }, { ...RESULT, tail: ["boom\u001b[31m"] });
    const result = await get(taskId);
    expect(GetTaskResultV2Schema.parse(result)).toMatchObject({
      status: "completed",
      result: {
        resultType: "complete",
        isError: true,
        structuredContent: {
          outcome: { kind: "failed", exitCode: 3 },
          metrics: {},
          artifacts: [],
          result: null,
        },
      },
    });
    expect(JSON.stringify(result["result"])).toContain("| boom [31m");
    expect(JSON.stringify(result["result"])).not.toContain("related-task");
  });

  test("T5 artifacts are named with size and hash, and linked", async () => {
    const artifact = { name: "fields/p 1.vtk", mediaType: "text/plain", bytes: 5, sha256: "ab" };
    const taskId = await ended({}, { ...RESULT, artifacts: [artifact], result: { drag: 1 } });
    const uri = `tailrace://task/${taskId}/artifacts/fields/p%201.vtk`;
    expect(await get(taskId)).toMatchObject({
      result: {
        isError: false,
        content: [
          { type: "text" },
          { type: "resource_link", uri, size: 5 },
          { type: "resource_link", uri: `tailrace://task/${taskId}/log` },
        ],
        structuredContent: { artifacts: [{ ...artifact, uri }], result: { drag: 1 } },
      },
    });
  });

  test("T5 a lost job is the only failure, with a JSON-RPC error and no result", async () => {
    const taskId = await running();
    await desk.tell(taskId, sawGone, { kind: "lost", why: "no witness for an hour" });
    const result = await get(taskId);
    expect(GetTaskResultV2Schema.parse(result)).toMatchObject({ status: "failed", error: { code: -32603 } });
    expect(result["statusMessage"]).toMatch(/^lost: .*no witness for an hour/);
    expect(result).not.toHaveProperty("result");
  });

  test("T7 a terminal task reads the same for ever", async () => {
    const taskId = await ended();
    const first = await get(taskId);
    await desk.call("tasks/cancel", { taskId });
    await desk.tell(taskId, sawRunning());
    expect(await get(taskId)).toEqual(first);
  });

  test("a target that this process does not know is said, and the task goes on", async () => {
    const taskId = await desk.create("elsewhere");
    expect(await get(taskId)).toMatchObject({
      status: "working",
      statusMessage: expect.stringContaining("target gone is not configured here"),
    });
  });
});

describe("cancel and update", () => {
  test("T9 cancel is acknowledged, twice too, and the task stays working until the scheduler agrees", async () => {
    const taskId = await running();
    for (const _ of [1, 2]) {
      const { status, result } = await desk.call("tasks/cancel", { taskId });
      expect([status, result["resultType"]]).toEqual([200, "complete"]);
    }
    expect(await get(taskId)).toMatchObject({
      status: "working",
      statusMessage: expect.stringMatching(/^cancelling · running/),
    });
    expect(desk.hastened.filter((member) => member === `cancel:${taskId}`)).toHaveLength(1);
    const outcome = outcomeWithoutJob("cancelled", "stopped by its caller");
    await desk.tell(taskId, sawEnd({ termAtMs: 1 }), { kind: "concluded", outcome, result: RESULT });
    const result = await get(taskId);
    expect(GetTaskResultV2Schema.parse(result)).toMatchObject({ status: "cancelled" });
    expect(result).not.toHaveProperty("result");
    expect((await desk.call("tasks/cancel", { taskId })).result).toMatchObject({ resultType: "complete" });
  });

  test("T9 two cancels at once make one request to stop", async () => {
    const taskId = await running();
    await Promise.all(Array.from({ length: 8 }, () => desk.call("tasks/cancel", { taskId })));
    const page = await desk.store.readEvents(taskId, null, 100);
    expect(page?.events.filter((text) => text.includes("cancel.requested"))).toHaveLength(1);
  });

  test("T8 answers by key, partly and repeated; junk under other keys is acknowledged", async () => {
    const taskId = await running();
    const request = (message: string) => ({
      method: "elicitation/create",
      params: { message, requestedSchema: { type: "object", properties: {} } },
    });
    await desk.tell(
      taskId,
      { kind: "input_requested", key: "name", request: request("Which name?") },
      { kind: "input_requested", key: "__proto__", request: request("Sure?") },
    );
    const asked = await get(taskId);
    expect(GetTaskResultV2Schema.parse(asked)).toMatchObject({ status: "input_required" });
    expect(asked["statusMessage"]).toContain("input needed: Which name?");
    const update = (inputResponses: object) =>
      desk.call("tasks/update", { taskId, inputResponses: { ...inputResponses } });
    for (const junk of [{ constructor: 7 }, { nothing: [null, "x"] }, {}]) {
      expect((await update(junk)).result).toMatchObject({ resultType: "complete" });
    }
    await update({ name: { action: "accept", content: { name: "x" } } });
    const rest = (await get(taskId))["inputRequests"] as object;
    expect(Object.keys(rest)).toEqual(["__proto__"]);
    await update({ name: { action: "decline" } });
    const { record } = (await desk.store.read(taskId)) ?? {};
    expect(record?.inputs[0]).toMatchObject({ key: "name", answer: { action: "accept" } });
    expect(desk.hastened).toContain(`deliver:${taskId}:name`);
  });
});

describe("whose task it is", () => {
  test.each(["tasks/get", "tasks/update", "tasks/cancel", "tasks/stream"])(
    "T10 T11 %s says the same of another caller's task as of none",
    async (method) => {
      const taskId = await desk.create("run_case");
      const other = await desk.call(method, { taskId, inputResponses: {} }, { who: "bob" });
      const none = await desk.call(method, {
        taskId: "t_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        inputResponses: {},
      });
      const junk = await desk.call(method, { taskId: "{tr}:x", inputResponses: {} });
      expect(other).toMatchObject({ status: 200, error: { code: -32602 } });
      expect(other.error).toEqual(none.error);
      expect(junk.error).toEqual(none.error);
    },
  );

  test.each(["tasks/get", "tasks/update", "tasks/cancel", "tasks/stream"])(
    "T1 %s by a client that does not declare Tasks is −32021, HTTP 400",
    async (method) => {
      const taskId = await desk.create("run_case");
      expect(await desk.call(method, { taskId }, { declares: false })).toMatchObject({
        status: 400,
        error: {
          code: -32021,
          data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
        },
      });
    },
  );

  test("C16 the log resource is the caller's own; anything else is −32602", async () => {
    const taskId = await running();
    const read = (uri: string, who: "alice" | "bob" = "alice") =>
      desk.call("resources/read", { uri }, { who });
    const uri = `tailrace://task/${taskId}/log?source=stderr`;
    expect((await read(uri)).result).toMatchObject({
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
      contents: [{ uri, mimeType: "text/plain", text: "stderr: [31mrésidu 1e-3\n" }],
    });
    for (const wrong of [
      uri.replace(taskId, "t_none"),
      "file:///etc/passwd",
      `tailrace://task/${taskId}/x`,
    ]) {
      expect(await read(wrong)).toMatchObject({ status: 200, error: { code: -32602 } });
    }
    const other = await read(uri, "bob");
    expect(other.error).toEqual((await read("tailrace://task/t_none/log")).error);
    expect(await read(`${uri}&offset=-1`)).toMatchObject({ error: { code: -32602 } });
  });
});
