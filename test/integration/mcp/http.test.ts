import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/json.ts";
import { envelope, type FrontDesk, mirror, startFrontDesk } from "../../support/front-desk.ts";

let desk: FrontDesk;
beforeAll(async () => {
  desk = await startFrontDesk();
});
afterAll(() => desk.stop());

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: envelope() } };
const HEADERS = mirror("tools/list", {});

async function codeOf(body: string | JsonObject, headers: Record<string, string | null> = {}) {
  const response = await desk.post(body, { ...HEADERS, ...headers });
  const { error } = (await response.json()) as { error?: { code: number; data?: JsonObject } };
  return { status: response.status, code: error?.code, data: error?.data };
}

function get(id: string | number, taskId: string, nameHeader: string | null) {
  const params = { taskId };
  const body = { jsonrpc: "2.0", id, method: "tasks/get", params: { ...params, _meta: envelope() } };
  return codeOf(body, { ...mirror("tasks/get", params), "mcp-name": nameHeader });
}

test.each(["GET", "DELETE", "PUT"])("C1 %s is refused with 405", async (method) => {
  const response = await fetch(desk.url, { method });
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("POST");
});

test("C1 a notification is answered 202 without a body", async () => {
  const body = { jsonrpc: "2.0", method: "notifications/initialized" };
  const response = await desk.post(body, HEADERS);
  expect([response.status, await response.text()]).toEqual([202, ""]);
});

test.each<[string, string | JsonObject, number, number]>([
  ["torn JSON", '{"jsonrpc":"2.0","id":1,', 400, -32700],
  ["an empty body", "", 400, -32700],
  ["a batch", `[${JSON.stringify(LIST)}]`, 400, -32600],
  ["a response", { jsonrpc: "2.0", id: 1, result: {} }, 400, -32600],
  ["another JSON-RPC version", { ...LIST, jsonrpc: "1.0" }, 400, -32600],
  ["a null id", { ...LIST, id: null }, 400, -32600],
  ["a fractional id", { ...LIST, id: 1.5 }, 400, -32600],
  ["params that are no object", { ...LIST, params: [] }, 400, -32600],
  ["a bare string", '"hello"', 400, -32600],
])("C1 %s is no request", async (_, body, status, code) => {
  expect(await codeOf(body)).toMatchObject({ status, code });
});

test("a body over the limit is refused with 413, with its length declared or not", async () => {
  const huge = JSON.stringify({ ...LIST, padding: "x".repeat(1024 * 1024) });
  expect(await codeOf(huge)).toMatchObject({ status: 413, code: -32600 });
  const chunked = await fetch(desk.url, {
    method: "POST",
    headers: HEADERS,
    body: new Blob([huge]).stream(),
    duplex: "half",
  } as RequestInit);
  expect(chunked.status).toBe(413);
});

test("only JSON is taken", async () => {
  expect(await codeOf(LIST, { "content-type": "text/plain" })).toMatchObject({ status: 415 });
  const named = await desk.post(LIST, { ...HEADERS, "content-type": "application/json; charset=utf-8" });
  expect(named.status).toBe(200);
});

test.each([
  ["_meta", {}],
  ["the version", { _meta: {} }],
  ["the client's capabilities", { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } }],
])("C2 a request without %s is −32602, HTTP 400", async (_, params) => {
  expect(await codeOf({ ...LIST, params })).toMatchObject({ status: 400, code: -32602 });
});

test.each<[string, Record<string, string | null>]>([
  ["a missing version", { "mcp-protocol-version": null }],
  ["a differing version", { "mcp-protocol-version": "2025-11-25" }],
  ["a missing method", { "mcp-method": null }],
  ["a differing method", { "mcp-method": "tools/call" }],
  ["a method in other case", { "mcp-method": "Tools/List" }],
])("C3 %s in the headers is −32020, HTTP 400", async (_, headers) => {
  expect(await codeOf(LIST, headers)).toMatchObject({ status: 400, code: -32020 });
});

test("C3 Mcp-Name is required for a task id, compared, and may be Base64", async () => {
  const id = "t_unknownunknownunknownunknown";
  const encoded = Buffer.from(id).toString("base64");
  expect(await get(1, id, null)).toMatchObject({ status: 400, code: -32020 });
  expect(await get(1, id, "t_other")).toMatchObject({ status: 400, code: -32020 });
  expect(await get(1, id, "=?base64?%%%?=")).toMatchObject({ status: 400, code: -32020 });
  expect(await get(1, id, "=?base64?/w==?=")).toMatchObject({ status: 400, code: -32020 });
  expect(await get(1, id, id)).toMatchObject({ status: 200, code: -32602 });
  expect(await get(1, id, `=?base64?${encoded}?=`)).toMatchObject({ status: 200, code: -32602 });
});

test("C3 tasks/stream does not insist on Mcp-Name but compares one that is there", async () => {
  const params = { taskId: "t_unknownunknownunknownunknown" };
  const body = { jsonrpc: "2.0", id: 1, method: "tasks/stream", params: { ...params, _meta: envelope() } };
  const headers = mirror("tasks/stream", params);
  expect(await codeOf(body, { ...headers, "mcp-name": null })).toMatchObject({ status: 200, code: -32602 });
  expect(await codeOf(body, { ...headers, "mcp-name": "x" })).toMatchObject({ status: 400, code: -32020 });
});

test("C4 an unknown version is −32022 with what is supported and what was asked for", async () => {
  const params = { _meta: envelope(true, { "io.modelcontextprotocol/protocolVersion": "2027-01-01" }) };
  expect(await codeOf({ ...LIST, params }, { "mcp-protocol-version": "2027-01-01" })).toEqual({
    status: 400,
    code: -32022,
    data: { supported: ["2026-07-28"], requested: "2027-01-01" },
  });
});

test("C4 a handshake of an older revision is −32022 and names the version it asked for", async () => {
  const body = { ...LIST, method: "initialize", params: { protocolVersion: "2025-11-25" } };
  expect(await codeOf(body, { "mcp-protocol-version": null, "mcp-method": null })).toMatchObject({
    status: 400,
    code: -32022,
    data: { requested: "2025-11-25" },
  });
});

test.each(["tasks/result", "tasks/list", "nothing/such", "constructor", "__proto__"])(
  "C4 T2 the method %s is −32601, HTTP 404, with or without Mcp-Name",
  async (method) => {
    const body = { jsonrpc: "2.0", id: 1, method, params: { taskId: "t_x", _meta: envelope() } };
    const headers = { ...mirror(method, {}), "mcp-name": null };
    expect(await codeOf(body, headers)).toMatchObject({ status: 404, code: -32601 });
  },
);

test("C9 another web page's Origin and another Host are refused with 403, before anything is read", async () => {
  expect((await desk.post("{", { ...HEADERS, origin: "https://evil.example" })).status).toBe(403);
  expect((await desk.post(LIST, { ...HEADERS, origin: "http://localhost:3000" })).status).toBe(200);
  const status = await new Promise((resolve, reject) => {
    const headers = { ...HEADERS, host: "evil.example" };
    const sent = httpRequest(desk.url, { method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject).end(JSON.stringify(LIST));
  });
  expect(status).toBe(403);
});

test("C9 a call without a known bearer token is 401 and says which scheme to use", async () => {
  for (const authorization of [null, "Bearer wrong", "Basic YTpi", "Bearer"]) {
    const response = await desk.post(LIST, { ...HEADERS, authorization });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toMatch(/^Bearer /);
  }
});

test("healthz answers without a token", async () => {
  const response = await fetch(desk.url.replace("/mcp", "/healthz"));
  expect(await response.json()).toEqual({ status: "ok" });
});

test("C5 server/discover lists versions, and the Tasks extension with exactly {}", async () => {
  const { result } = await desk.call("server/discover");
  expect(result).toEqual({
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {}, resources: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
    ttlMs: expect.any(Number),
    cacheScope: "private",
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "tailrace", version: "0.0.0" } },
  });
});

test("C6 C12 lists carry resultType, ttlMs and cacheScope", async () => {
  for (const method of ["tools/list", "resources/list", "resources/templates/list"]) {
    const { result } = await desk.call(method);
    expect(result).toMatchObject({
      resultType: "complete",
      ttlMs: expect.any(Number),
      cacheScope: "private",
    });
  }
});

test("ids of either kind come back as they were sent", async () => {
  for (const id of ['a"b', 0, -7]) {
    const response = await desk.post({ ...LIST, id }, HEADERS);
    expect(await response.json()).toMatchObject({ jsonrpc: "2.0", id });
  }
});

test("a caller that hangs up in the middle of its body hurts nobody", async () => {
  await new Promise<void>((resolve) => {
    const sent = httpRequest(desk.url, { method: "POST", headers: { ...HEADERS, "content-length": 1000 } });
    sent.on("error", () => resolve());
    sent.write('{"jsonrpc":', () => sent.destroy(new Error("hung up")));
  });
  expect((await desk.call("tools/list")).status).toBe(200);
});
