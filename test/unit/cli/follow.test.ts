import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "vitest";
import { createTask, findTool } from "../../../src/cli/client/create.ts";
import { Refused, Unreachable } from "../../../src/cli/client/faults.ts";
import { followTask, type News } from "../../../src/cli/client/follow.ts";
import { createMcpClient } from "../../../src/cli/client/mcp-client.ts";
import { createPatience } from "../../../src/cli/client/patience.ts";
import { eventually } from "../../support/eventually.ts";
import {
  type Answering,
  answer,
  answerError,
  startScriptedServer,
  stream,
} from "../../support/scripted-server.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const DONE = { resultType: "complete", taskId: "t_1", status: "completed", result: {} };
const WORKING = { resultType: "complete", taskId: "t_1", status: "working" };

let stop: (() => Promise<void>) | null = null;
afterEach(async () => {
  await stop?.();
  stop = null;
});

async function clientOf(script: readonly Answering[]) {
  const server = await startScriptedServer(script);
  stop = server.stop;
  const { signal } = new AbortController();
  const away: string[] = [];
  const patience = createPatience({
    patienceMs: 20_000,
    signal,
    onWait: (why) => void away.push(why),
    random: () => 0,
  });
  return {
    client: createMcpClient(async () => ({ url: server.url, token: "secret" })),
    server,
    signal,
    patience,
    away,
  };
}

/** Follows the task through a script; events as their seq, gaps as "from-to". */
async function follow(script: readonly Answering[], after: number | null = null) {
  const { client, server, signal, patience, away } = await clientOf(script);
  const heard: (number | string)[] = [];
  const onNews = (news: News) =>
    void heard.push(news.kind === "event" ? news.event.seq : `${news.fromSeq}-${news.toSeq}`);
  const task = await followTask(client, { taskId: "t_1", after, signal, patience, onNews });
  const cursors = server.asked
    .filter(({ method }) => method === "tasks/stream")
    .map(({ params }) => params["after"] ?? null);
  return { heard, task, cursors, away };
}

test("a stream that breaks is resumed after the last event, and nothing is told twice", async () => {
  const { heard, cursors, task } = await follow([
    stream({ seqs: [0, 1] }, "break"),
    stream({ seqs: [1, 2, 3], last: 3 }, "result"),
    answer(DONE),
  ]);
  expect(heard).toEqual([0, 1, 2, 3]);
  expect(cursors).toEqual([null, 1]);
  expect(task).toMatchObject(DONE);
});

test("a stream that ends before its task does is resumed: its server was stopped", async () => {
  const { heard, cursors } = await follow([
    stream({ seqs: [0] }, "result"),
    answer(WORKING),
    stream({ seqs: [1, 2], last: 2 }, "result"),
    answer(DONE),
  ]);
  expect(heard).toEqual([0, 1, 2]);
  expect(cursors).toEqual([null, 0]);
});

test("a task that ended while nobody listened is followed to its last event all the same", async () => {
  const { heard } = await follow([
    stream({ seqs: [0] }, "result"),
    answer(DONE),
    stream({ seqs: [1, 2], last: 2 }, "result"),
    answer(DONE),
  ]);
  expect(heard).toEqual([0, 1, 2]);
});

test("nothing above the cursor of an ended task, asked twice, is the end", async () => {
  const empty = [stream({ seqs: [] }, "result"), answer(DONE)];
  const { heard, cursors } = await follow([...empty, ...empty], 9);
  expect([heard, cursors]).toEqual([[], [9, 9]]);
});

test("events that are gone, or missing inside a stream, are told as a gap, and the rest follows", async () => {
  const gone = { reason: "events_gone", taskId: "t_1", earliestSeq: 5 };
  const { heard, cursors } = await follow([
    stream({ seqs: [0, 1] }, "break"),
    answerError(-32010, "gone", { data: gone }),
    stream({ seqs: [5, 8, 9], last: 9 }, "result"),
    answer(DONE),
  ]);
  expect(heard).toEqual([0, 1, "2-4", 5, "6-7", 8, 9]);
  expect(cursors).toEqual([null, 1, 4]);
});

test("events of another task are not this task's", async () => {
  const foreign: Answering = (response, asked) =>
    stream({ seqs: [0, 1], taskId: "t_2" }, "break")(response, asked);
  const { heard } = await follow([foreign, stream({ seqs: [0], last: 0 }, "result"), answer(DONE)]);
  expect(heard).toEqual([0]);
});

test("a server that is away, full or cut off in mid-sentence is asked again", async () => {
  const { heard, away } = await follow([
    answerError(-32603, "The store did not answer.", { status: 503 }),
    (response) => void response.destroy(),
    (response) => void response.writeHead(200, { "content-type": "application/json" }).end('{"jsonrpc":'),
    stream({ seqs: [0], last: 0 }, "result"),
    answer(WORKING),
    answer(DONE),
  ]);
  expect(heard).toEqual([0]);
  expect(away).toEqual([
    "The store did not answer.",
    expect.any(String),
    "the answer is no MCP message",
    "the task's last event is out, but its end is not",
  ]);
});

test("a refusal ends the following", async () => {
  const refused = follow([answerError(-32602, "There is no such task.")]);
  await expect(refused).rejects.toMatchObject({
    name: "Refused",
    code: -32602,
    message: "There is no such task.",
  });
});

test("a fault inside a stream is a refusal as anywhere", async () => {
  const script = [stream({ seqs: [0] }, { code: -32602, message: "after is 7, but the newest is 3" })];
  await expect(follow(script, 7)).rejects.toThrow(Refused);
});

test("each request says what it is in headers and metadata, and carries the token", async () => {
  const { client, server } = await clientOf([answer({ tools: [] }), answer({})]);
  await client.request("tools/list", {});
  await client.request("tools/call", { name: "größe", arguments: {} }, { meta: { x: 1 } });
  const [list, call] = server.asked;
  expect(list?.headers).toMatchObject({
    authorization: "Bearer secret",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/list",
  });
  expect(call?.headers["mcp-name"]).toBe(`=?base64?${Buffer.from("größe").toString("base64")}?=`);
  expect(call?.params["_meta"]).toMatchObject({
    x: 1,
    "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
  });
});

test("a server that falls silent is given up after a while, one that only keeps the line warm is not", async () => {
  const server = await startScriptedServer([
    (response) => void response.writeHead(200, { "content-type": "text/event-stream" }).write(": warm\n\n"),
  ]);
  stop = server.stop;
  const client = createMcpClient(async () => ({ url: server.url, token: null }), 150);
  await expect(client.request("tasks/stream", { taskId: "t_1" })).rejects.toThrow(Unreachable);
});

test("a stream that is read for long still ends with its signal, whatever was collected as garbage meanwhile", async () => {
  let isOpen = false;
  const { client } = await clientOf([
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(": warm\n\n");
      response.once("close", () => {
        isOpen = false;
      });
    },
  ]);
  const leaving = new AbortController();
  const onStream = () => {
    isOpen = true;
  };
  const request = client.request("tasks/stream", { taskId: "t_1" }, { signal: leaving.signal, onStream });
  request.catch(() => undefined); // it is looked at below
  await eventually(() => expect(isOpen).toBe(true));
  for (let round = 0; round < 10; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    collectGarbage();
  }
  leaving.abort(new Error("left"));
  await expect(request).rejects.toThrow("left");
  await eventually(() => expect(isOpen).toBe(false));
});

test("what is no tailrace, and a redirect to elsewhere, is not followed", async () => {
  const { client } = await clientOf([
    (response) => void response.writeHead(404, { "content-type": "text/html" }).end("<h1>Not found</h1>"),
    (response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
  ]);
  await expect(client.request("tools/list", {})).rejects.toMatchObject({
    name: "Refused",
    message: expect.stringContaining("no tailrace (HTTP 404)"),
  });
  await expect(client.request("tools/list", {})).rejects.toThrow(Unreachable);
});

const LISTED = { tools: [{ name: "run", inputSchema: { type: "object" } }] };
const CREATED = { resultType: "task", taskId: "t_1", status: "working" };

test("a create whose answer was lost is sent again with the same key, also one that was drawn", async () => {
  const { client, server, signal, patience } = await clientOf([
    answer(LISTED),
    (response) => void response.destroy(),
    answer({ ...CREATED, _meta: { "dev.tailrace/existing": true } }),
  ]);
  const tool = await findTool(client, "run", signal);
  const handle = await createTask(client, { tool, args: { n: 1 }, key: null }, { patience, signal });
  const keys = server.asked
    .slice(1)
    .map(({ params }) => Object(params["_meta"])["dev.tailrace/idempotencyKey"]);
  expect(keys).toEqual([handle.key, handle.key]);
  expect(handle).toMatchObject({ taskId: "t_1", isExisting: true, key: expect.stringMatching(/.{20}/) });
});

test("a key is not drawn where arguments are the key, nor where it is an argument", async () => {
  const listed = { tools: [{ ...LISTED.tools[0], _meta: { "dev.tailrace/idempotency": "arguments" } }] };
  const { client, server, signal, patience } = await clientOf([
    answer(listed),
    answer(CREATED),
    answer(CREATED),
  ]);
  const tool = await findTool(client, "run", signal);
  const made = await createTask(client, { tool, args: {}, key: null }, { patience, signal });
  const named = await createTask(
    client,
    { tool, args: { idempotencyKey: "k" }, key: null },
    { patience, signal },
  );
  expect([made.key, named.key]).toEqual([null, "k"]);
  for (const { params } of server.asked) {
    expect(params["_meta"]).not.toHaveProperty(["dev.tailrace/idempotencyKey"]);
  }
});

test("when patience ends in a create, the key that finds its task is told", async () => {
  const { client, signal } = await clientOf([answer(LISTED), (response) => void response.destroy()]);
  const tool = await findTool(client, "run", signal);
  const patience = createPatience({ patienceMs: 0, signal, onWait: () => undefined });
  await expect(createTask(client, { tool, args: {}, key: "mine" }, { patience, signal })).rejects.toThrow(
    /no server answers[\s\S]*--key mine finds it/,
  );
});
