import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { pino } from "pino";
import { createHistory } from "../../adapters/solvers/history.ts";
import { authenticateNobody } from "../../src/auth/tokens.ts";
import { createDispatcher } from "../../src/mcp/dispatch.ts";
import { createHttpApp, DEFAULT_MAX_BODY_BYTES, LOOPBACK_HOSTS } from "../../src/mcp/http.ts";
import { DEFAULT_SSE } from "../../src/mcp/sse.ts";
import { renderTask } from "../../src/mcp/wire.ts";
import { createTaskService, DEFAULT_TASK_LIMITS } from "../../src/tasks/service.ts";
import { toolOf } from "../support/front-desk.ts";
import { openRedis } from "../support/redis.ts";
import { openStoreOn } from "./store.ts";

/**
 * The front desk in a process of its own, with the two things it is compared with beside it: a bare JSON reply, and one
 * that parses the same body. Commands come over IPC; the answers are this process's own CPU time and memory.
 */
const socket = process.argv[2] ?? "";
const reply = JSON.parse(process.argv[3] ?? "{}") as object;
const { store } = await openStoreOn(socket, openRedis, renderTask);
const tools = new Map([["run_case", toolOf()]]);
const log = pino({ level: "silent" });
const tasks = createTaskService({
  store,
  tools: () => tools,
  instance: "bench",
  hasten: () => undefined,
  readLog: () => Promise.resolve({ bytes: new Uint8Array(), atEnd: true }),
  createHistory,
  limits: { ...DEFAULT_TASK_LIMITS, streamsPerCaller: 10_000, streamsPerTask: 10_000 },
});
const dispatcher = createDispatcher({
  tasks,
  tools: () => tools,
  isTargetKnown: () => true,
  serverInfo: { name: "tailrace", version: "0.0.0" },
  instructions: "",
  inlineWaitMs: 1_000,
  log,
});
const desk = createHttpApp({
  dispatcher,
  authenticate: authenticateNobody(),
  allowedHosts: [...LOOPBACK_HOSTS],
  allowedOrigins: [],
  maxBodyBytes: DEFAULT_MAX_BODY_BYTES,
  sse: DEFAULT_SSE,
  stopping: new AbortController().signal,
  log,
});
const app = new Hono();
app.post("/bare", (c) => c.json(reply));
app.post("/parse", async (c) => {
  const body: unknown = await c.req.json();
  return c.json(typeof body === "object" ? reply : {});
});
app.route("/", desk as unknown as Hono);

const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
  process.send?.({ kind: "ready", port });
});
process.on("message", (message) => {
  if (message === "measure") {
    globalThis.gc?.();
    const { user, system } = process.cpuUsage();
    const { heapUsed, external } = process.memoryUsage();
    process.send?.({ kind: "measured", cpuMicros: user + system, heldBytes: heapUsed + external });
  }
  if (message === "stop") {
    server.close();
    process.exit(0);
  }
});
