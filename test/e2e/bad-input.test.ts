import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { tokenHash } from "../../src/auth/tokens.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { clientOf, envelope, mirror, TOKENS, type Who } from "../support/front-desk.ts";
import { createTask, followEvents } from "../support/stubborn-client.ts";
import { createSite, parseLines, type Served, type Site } from "../support/tailrace.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const INVALID = -32602;
const NOBODYS = `t_${"A".repeat(32)}`;

let site: Site;
let up: Served;
const url = () => up.url;

beforeAll(async () => {
  const tokens = (["alice", "bob"] as const).map((name) => ({ name, sha256: tokenHash(TOKENS[name]) }));
  const note = {
    description: "Says hello.",
    input: {
      n: { type: "number", minimum: 1, maximum: 10, default: 3 },
      label: { type: "string", optional: true },
    },
    run: { script: "#!/bin/sh\necho hello\n" },
    resources: { walltime: "1m" },
  };
  const wait = {
    description: "Waits until a file exists.",
    input: { gate: { type: "string" } },
    run: { script: '#!/bin/sh\nwhile [ ! -e "$TAILRACE_ARG_GATE" ]; do sleep 0.1; done\n' },
    resources: { walltime: "1m" },
  };
  site = createSite({ auth: { tokens }, tools: { note, wait } });
  up = await site.serve("up", "--port", "0");
});
afterAll(() => site.stop());

const call = (method: string, params: JsonObject, who: Who = "alice") =>
  clientOf(up.url).call(method, params, { who });
const note = (args: JsonObject) => call("tools/call", { name: "note", arguments: args });

async function taskCount(): Promise<number> {
  return parseLines((await site.run("list", "--json")).stdout).length;
}

const FAULTS: readonly (readonly [JsonObject, ...string[]])[] = [
  [{ n: "3" }, 'n: must be number (got "3")'],
  [{ n: 100, zz: 1 }, "zz: is not known to this tool", "n: must be <= 10 (got 100)"],
  [{ label: "a\0b" }, '"label" holds a NUL character'],
  [{ label: "x".repeat(200_000) }, '"label" is over 128 KiB'],
  [{ idempotencyKey: 5 }, "idempotencyKey must be a string of 1–256 characters"],
  [{ idempotencyKey: "k".repeat(200_000) }, "idempotencyKey must be a string of 1–256 characters"],
];

test("each fault of the arguments is told with the argument's name, and makes no task", async () => {
  const before = await taskCount();
  for (const [args, ...said] of FAULTS) {
    const { status, error } = await note(args);
    expect({ status, code: error.code }).toEqual({ status: 200, code: INVALID });
    for (const words of said) expect(error.message).toContain(words);
  }
  expect(await taskCount()).toBe(before);
});

test.each([
  ["an own __proto__", '{"__proto__":{"n":1}}'],
  ["an infinite number", '{"n":1e999}'],
  ["200,000 brackets", `{"label":${"[".repeat(200_000)}${"]".repeat(200_000)}}`],
])("arguments with %s, which only raw JSON can say, are refused like any", async (_, args) => {
  const params = { name: "note", arguments: "HERE", _meta: envelope() };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const response = await clientOf(up.url).post(
    body.replace('"HERE"', args),
    mirror("tools/call", { name: "note" }),
  );
  expect(await response.json()).toMatchObject({
    error: { code: INVALID, message: expect.stringContaining("Invalid arguments: ") },
  });
});

test("a tool that is not there is answered with where to find those that are", async () => {
  const { error } = await call("tools/call", { name: "notes", arguments: {} });
  expect(error).toMatchObject({
    code: INVALID,
    message: expect.stringMatching(/no tool named "notes".*tools\/list/),
  });
});

test("the same key with other arguments is refused with what to do, and the task of the key stays as it is", async () => {
  const { taskId } = await createTask(url, "note", { n: 1, idempotencyKey: "once" });
  const { error } = await note({ n: 2, idempotencyKey: "once" });
  expect(error.message).toMatch(/already used for this tool with other arguments.*Use a new key/);
  expect((await createTask(url, "note", { n: 1, idempotencyKey: "once" }))["taskId"]).toBe(taskId);
});

test("somebody else's task and one that never was are answered alike by every method", async () => {
  const taskId = String((await createTask(url, "note", {}))["taskId"]);
  const asked: [string, (id: string) => JsonObject][] = [
    ...["tasks/get", "tasks/cancel", "tasks/update", "tasks/stream"].map(
      (method): [string, (id: string) => JsonObject] => [method, (id) => ({ taskId: id })],
    ),
    ...["log", "metrics"].map((part): [string, (id: string) => JsonObject] => [
      "resources/read",
      (id) => ({ uri: `tailrace://task/${id}/${part}` }),
    ]),
  ];
  for (const [method, params] of asked) {
    const [theirs, nobodys] = [
      await call(method, params(taskId), "bob"),
      await call(method, params(NOBODYS), "bob"),
    ];
    expect(theirs.error).toMatchObject({
      code: INVALID,
      message: expect.stringContaining("There is no such"),
    });
    expect(theirs).toEqual(nobodys);
  }
});

test("a cursor that is none is refused with what it must be, on live and on ended tasks", async () => {
  const gate = site.gate();
  const live = String((await createTask(url, "wait", { gate: gate.path }))["taskId"]);
  const ended = String((await createTask(url, "note", {}))["taskId"]);
  await followEvents(url, ended).done;
  for (const taskId of [live, ended]) {
    for (const after of [-1, 1.5, "3", null, true, [], 2 ** 53]) {
      const { error } = await call("tasks/stream", { taskId, after });
      expect(error.message).toContain("params.after must be an integer of 0 or more");
    }
  }
  const beyond = await call("tasks/stream", { taskId: live, after: 1_000_000 });
  expect(beyond.error.message).toMatch(/after is 1000000, but the newest event of this task is \d/);
  const over = await clientOf(up.url).open("tasks/stream", { taskId: ended, after: 1_000_000 });
  expect(await over.text()).toMatch(/^event: message\ndata: .*"result":\{"resultType":"complete".*\n\n$/);
  gate.open();
  await followEvents(url, live).done;
});

test("of 300 streams of one caller 64 open; the others are told the limit and what to do, and nobody else is hindered", async () => {
  const gate = site.gate();
  const tasks = await Promise.all(
    Array.from({ length: 20 }, () =>
      createTask(url, "wait", { gate: gate.path }).then((one) => one["taskId"]),
    ),
  );
  const leaving = new AbortController();
  const answers = await Promise.all(
    Array.from({ length: 300 }, async (_, index) => {
      const params = { taskId: tasks[index % tasks.length] ?? "" };
      const response = await clientOf(up.url).open("tasks/stream", params, { signal: leaving.signal });
      return response.status === 200 ? "open" : `${response.status} ${await response.text()}`;
    }),
  );
  const refused = answers.filter((answer) => answer !== "open");
  expect(refused).toHaveLength(300 - 64);
  for (const answer of refused) {
    expect(answer).toMatch(/^429 .*You hold 64 open streams, which is the limit; close one first/);
  }
  expect((await call("tools/list", {}, "bob")).status).toBe(200);
  leaving.abort();
  gate.open();
  await followEvents(url, String(tasks[0])).done;
});

/** What comes back for these texts, sent one after another over one connection. */
async function talk(texts: readonly string[], { gapMs = 0, forMs = 1_500 } = {}): Promise<string> {
  const { hostname, port } = new URL(up.url);
  const socket = connect(Number(port), hostname);
  let heard = "";
  socket.on("data", (data) => {
    heard += data.toString("latin1");
  });
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    socket.once("error", () => resolve());
  });
  for (const text of texts) {
    socket.write(text);
    if (gapMs > 0) await delay(gapMs);
  }
  await Promise.race([closed, delay(forMs)]);
  socket.destroy();
  return heard;
}

const BODY = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: envelope() } });

function head(more: Record<string, string>): string {
  const headers = { host: "localhost", ...mirror("tools/list", {}), ...more };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return ["POST /mcp HTTP/1.1", ...lines, "", ""].join("\r\n");
}
const whole = head({ "content-length": `${BODY.length}` }) + BODY;

test("requests sent in one go are answered one by one", async () => {
  expect((await talk([whole.repeat(5)])).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(5);
});

test.each<[string, string, RegExp]>([
  ["a header of 100 kB", head({ "mcp-name": "x".repeat(100_000) }), /^HTTP\/1\.1 431 /],
  ["a length that is none", head({ "content-length": "5x" }), /^HTTP\/1\.1 400 /],
  [
    "two ways to tell its length",
    head({ "content-length": "5", "transfer-encoding": "chunked" }),
    /^HTTP\/1\.1 400 /,
  ],
  ["no HTTP at all", "\0\0garbage\r\n\r\n", /^HTTP\/1\.1 400 /],
])("a request with %s is refused and its connection closed", async (_, text, answer) => {
  expect(await talk([text])).toMatch(answer);
});

test("callers that dribble their bodies keep nobody waiting", async () => {
  const begun = head({ "content-length": `${BODY.length}` }) + BODY.slice(0, 3);
  const dribbling = Array.from({ length: 100 }, () =>
    talk([begun, "a", "b", "c"], { gapMs: 300, forMs: 300 }),
  );
  const askedAt = performance.now();
  expect((await call("tools/list", {})).status).toBe(200);
  expect(performance.now() - askedAt).toBeLessThan(1_000);
  expect((await Promise.all(dribbling)).join("")).toBe("");
});
