import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  createTaskSessionFromClient,
  type RawClientDispatch,
  type TaskEnabledSession,
} from "@modelcontextprotocol/ext-tasks/client";
import { CreateTaskResultV2Schema, ToolV2Schema } from "@modelcontextprotocol/ext-tasks/core/v2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NO_FINDINGS } from "../../../src/domain/findings.ts";
import { concludeOutcome } from "../../../src/domain/outcome.ts";
import { isObject } from "../../../src/mcp/protocol.ts";
import { type Answer, envelope, type FrontDesk, mirror, startFrontDesk } from "../../support/front-desk.ts";
import { concluded, jobEnd, RESULT, sawEnd, sawRunning, submitted } from "../../support/records.ts";

let desk: FrontDesk;
let client: Client;
let session: TaskEnabledSession<undefined>;

const VERSION = "2026-07-28";
const CLIENT_INFO = { name: "official", version: "1" };
const LEASED = { kind: "attempt_leased", attempt: 1, leaseUntilMs: 9e12 } as const;

beforeAll(async () => {
  desk = await startFrontDesk();
  client = new Client(CLIENT_INFO, { versionNegotiation: { mode: "auto" } });
  const requestInit = { headers: { authorization: "Bearer token-of-alice" } };
  await client.connect(new StreamableHTTPClientTransport(new URL(desk.url), { requestInit }));
  session = createTaskSessionFromClient(client, {
    endpointId: "test",
    rawDispatch,
    v2RequestFraming: { protocolVersion: VERSION, clientInfo: CLIENT_INFO, clientCapabilities: {} },
  });
});
afterAll(async () => {
  await session.close();
  await client.close();
  await desk.stop();
});

/** The SDK's own codecs refuse task results; the framed request goes out as it is. */
const rawDispatch: RawClientDispatch = async (request, options) => {
  if (!isObject(request) || !isObject(request["params"])) throw new Error("unexpected request");
  const { method, params } = request;
  const response = await fetch(desk.url, {
    method: "POST",
    headers: mirror(String(method), params),
    body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }),
    ...(options?.signal === undefined ? {} : { signal: options.signal }),
  });
  const { result, error } = (await response.json()) as Answer;
  return error === undefined ? { kind: "result", result } : { kind: "error", error };
};

function taskIdOf(execution: { readonly handle?: { readonly taskId: string } | undefined }): string {
  if (execution.handle === undefined) throw new Error("the call was no task");
  return execution.handle.taskId;
}

test("the official client speaks 2026-07-28 with us and lists our tools", async () => {
  expect(client.getProtocolEra()).toBe("modern");
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toEqual(["run_case"]);
  expect(tools[0]?.inputSchema.properties).toHaveProperty("idempotencyKey");
});

test("C15 our tools and creates fit the published schemas", async () => {
  const { result } = await desk.call("tools/list");
  for (const tool of result["tools"] as unknown[]) ToolV2Schema.parse(tool);
  CreateTaskResultV2Schema.parse((await desk.call("tools/call", { name: "run_case" })).result);
});

test("the official session calls, polls and settles with the job's result", async () => {
  const execution = await session.callTool("run_case", { n: 1 });
  const taskId = taskIdOf(execution);
  await desk.tell(taskId, LEASED, submitted, sawRunning(), sawEnd());
  const settling = execution.settle();
  const outcome = concludeOutcome(jobEnd(), NO_FINDINGS, false);
  await desk.tell(taskId, { kind: "concluded", outcome, result: { ...RESULT, result: { drag: 1 } } });
  const settled = await settling;
  expect(settled.outcome).toMatchObject({
    status: "completed",
    result: { isError: false, structuredContent: { result: { drag: 1 } } },
  });
});

test("the official session cancels", async () => {
  const execution = await session.callTool("run_case", {});
  const taskId = taskIdOf(execution);
  await desk.tell(taskId, LEASED, submitted, sawRunning());
  await execution.cancel();
  expect((await desk.store.read(taskId))?.record.cancel).not.toBeNull();
  await desk.tell(taskId, sawEnd({ termAtMs: 1 }), concluded);
  expect((await execution.settle()).outcome).toMatchObject({ status: "cancelled" });
});

test("what a client declares counts for that request alone", async () => {
  const params = { name: "run_case", _meta: envelope(false) };
  const body = { jsonrpc: "2.0", id: 1, method: "tasks/get", params: { ...params, taskId: "t_x" } };
  const response = await desk.post(body, mirror("tasks/get", { taskId: "t_x" }));
  expect(await response.json()).toMatchObject({ error: { code: -32021 } });
});
