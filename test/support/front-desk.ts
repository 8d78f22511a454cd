import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { pino } from "pino";
import { createHistory } from "../../adapters/solvers/history.ts";
import { authenticateTokens, createPrincipal, tokenHash } from "../../src/auth/tokens.ts";
import type { Fact } from "../../src/domain/fact.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { apply } from "../../src/domain/lifecycle.ts";
import type { Authenticate } from "../../src/domain/principal.ts";
import type { TaskStore } from "../../src/domain/store.ts";
import type { ToolDefinition } from "../../src/domain/tool.ts";
import { createDispatcher } from "../../src/mcp/dispatch.ts";
import { createHttpApp, DEFAULT_MAX_BODY_BYTES, LOOPBACK_HOSTS } from "../../src/mcp/http.ts";
import { DEFAULT_SSE, type SseOptions } from "../../src/mcp/sse.ts";
import { renderTask } from "../../src/mcp/wire.ts";
import type { ReadLog } from "../../src/tasks/log.ts";
import { createTaskService, DEFAULT_TASK_LIMITS, type TaskLimits } from "../../src/tasks/service.ts";
import { startRedis, type TestRedis } from "./redis.ts";
import { openStore } from "./store.ts";

export const ALICE = createPrincipal("alice");
export const TOKENS = { alice: "token-of-alice", bob: "token-of-bob" };
export type Who = keyof typeof TOKENS;

export type FrontDeskOptions = {
  readonly tools?: readonly ToolDefinition[];
  readonly limits?: Partial<TaskLimits>;
  readonly inlineWaitMs?: number;
  readonly sse?: Partial<SseOptions>;
  readonly readLog?: ReadLog;
  readonly authenticate?: Authenticate;
  readonly maxEvents?: number;
  readonly redisArgs?: readonly string[];
  readonly knownTargets?: readonly string[];
};

/** The front desk on a real server and a real Redis; what workers would do, tests do with `tell`. */
export type FrontDesk = {
  readonly url: string;
  readonly redis: TestRedis;
  readonly store: TaskStore;
  readonly hastened: string[];
  post(body: string | JsonObject, headers?: Record<string, string | null>): Promise<Response>;
  call(method: string, params?: JsonObject, options?: CallOptions): Promise<Answer>;
  open(method: string, params: JsonObject, options?: CallOptions): Promise<Response>;
  create(tool: string, args?: JsonObject, options?: CallOptions): Promise<string>;
  tell(taskId: string, ...facts: Telling[]): Promise<void>;
  append(taskId: string, events: readonly { type: string; payload: JsonObject }[]): Promise<void>;
  stopServing: () => void;
  stop(): Promise<void>;
};

type Told<F> = F extends { readonly atMs: number } ? Omit<F, "atMs"> : never;
export type Telling = Told<Fact>;

export type CallOptions = {
  readonly who?: Who;
  readonly declares?: boolean;
  readonly meta?: JsonObject;
  readonly signal?: AbortSignal;
};
export type Answer = { readonly status: number; readonly result: JsonObject; readonly error: RpcFault };
export type RpcFault = { code: number; message: string; data?: JsonObject };

export function toolOf(fields: Partial<ToolDefinition> = {}): ToolDefinition {
  return {
    name: "run_case",
    title: "Run a case",
    description: "Runs it.",
    target: "here",
    inputSchema: { type: "object", properties: { n: { type: "number" } } },
    outputSchema: null,
    checkArguments: (args) => ({ args }),
    run: { kind: "argv", argv: ["solve"] },
    env: {},
    resources: { cpus: 1, memoryMib: null, walltimeSeconds: 60, gpus: 0 },
    solver: "generic",
    progress: { total: null, unit: null },
    outputs: [],
    idempotency: "optional",
    idempotencyWindowMs: 60_000,
    tasks: "optional",
    ttlMs: 60_000,
    options: {},
    ...fields,
  };
}

/** The `_meta` of a request, as a client of 2026-07-28 sends it. */
export function envelope(declares = true, more: JsonObject = {}): JsonObject {
  return {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": declares
      ? { extensions: { "io.modelcontextprotocol/tasks": {} } }
      : {},
    ...more,
  };
}

/** The headers that mirror a request, for `who`. */
export function mirror(method: string, params: JsonObject, who: Who = "alice"): Record<string, string> {
  const name = params["name"] ?? params["uri"] ?? params["taskId"];
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    authorization: `Bearer ${TOKENS[who]}`,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": name } : {}),
  };
}

export async function startFrontDesk(options: FrontDeskOptions = {}): Promise<FrontDesk> {
  const redis = await startRedis(options.redisArgs);
  const { maxEvents } = options;
  const { store } = await openStore(redis, { renderTask, ...(maxEvents === undefined ? {} : { maxEvents }) });
  const tools = new Map((options.tools ?? [toolOf()]).map((tool) => [tool.name, tool]));
  const hastened: string[] = [];
  const log = pino({ level: "silent" });
  const tasks = createTaskService({
    store,
    tools: () => tools,
    instance: "test",
    hasten: (_, member) => void hastened.push(member),
    readLog: options.readLog ?? (async () => ({ bytes: new Uint8Array(), atEnd: true })),
    createHistory,
    limits: { ...DEFAULT_TASK_LIMITS, ...options.limits },
  });
  const dispatcher = createDispatcher({
    tasks,
    tools: () => tools,
    isTargetKnown: (target) => (options.knownTargets ?? ["here"]).includes(target),
    serverInfo: { name: "tailrace", version: "0.0.0" },
    instructions: "",
    inlineWaitMs: options.inlineWaitMs ?? 20_000,
    log,
  });
  const stopping = new AbortController();
  const app = createHttpApp({
    dispatcher,
    authenticate: options.authenticate ?? authenticateTokens(namedTokens()),
    allowedHosts: [...LOOPBACK_HOSTS],
    allowedOrigins: ["localhost"],
    maxBodyBytes: DEFAULT_MAX_BODY_BYTES,
    sse: { ...DEFAULT_SSE, ...options.sse },
    stopping: stopping.signal,
    log,
  });
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server;
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const client = clientOf(url);
  return {
    url,
    redis,
    store,
    hastened,
    ...client,
    async create(tool, args = {}, callOptions = {}) {
      const { result, error } = await client.call("tools/call", { name: tool, arguments: args }, callOptions);
      if (typeof result?.["taskId"] !== "string")
        throw new Error(`no task: ${JSON.stringify(error ?? result)}`);
      return result["taskId"];
    },
    tell: (taskId, ...facts) => tell(store, taskId, facts),
    append: (taskId, events) => append(store, taskId, events),
    stopServing: () => stopping.abort(),
    async stop() {
      stopping.abort();
      server.closeAllConnections();
      server.close();
      await store.close();
      await redis.stop();
    },
  };
}

function namedTokens() {
  return Object.entries(TOKENS).map(([name, token]) => ({ name, sha256: tokenHash(token) }));
}

export function clientOf(url: string): Pick<FrontDesk, "post" | "call" | "open"> {
  const post: FrontDesk["post"] = (body, headers = {}) =>
    fetch(url, {
      method: "POST",
      headers: Object.fromEntries(
        Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null),
      ),
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const open: FrontDesk["open"] = (method, params, { who, declares, meta, signal } = {}) => {
    const sent = { ...params, _meta: envelope(declares, meta) };
    return fetch(url, {
      method: "POST",
      headers: mirror(method, params, who),
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: sent }),
      ...(signal === undefined ? {} : { signal }),
    });
  };
  return {
    post,
    open,
    async call(method, params = {}, options = {}) {
      const response = await open(method, params, options);
      const { result, error } = (await response.json()) as Answer;
      return { status: response.status, result, error };
    },
  };
}

async function tell(store: TaskStore, taskId: string, facts: readonly Telling[]): Promise<void> {
  for (const fact of facts) {
    const before = (await store.read(taskId))?.record;
    if (before === undefined) throw new Error("no such task");
    const { record: after, events } = apply(before, { ...fact, atMs: await store.now() } as Fact);
    if (after === before) continue;
    const written = await store.commit({ before, after, events });
    if (written !== "committed") throw new Error(`commit: ${written}`);
  }
}

async function append(
  store: TaskStore,
  taskId: string,
  events: readonly { type: string; payload: JsonObject }[],
): Promise<void> {
  const state = await store.takeOver(taskId);
  if (state === null) throw new Error("no such task");
  const answer = await store.append({
    taskId,
    target: state.record.target,
    life: state.record.life,
    epoch: state.epoch,
    from: state.cursor,
    to: `${Number(state.cursor || "0") + events.length}`,
    snapshot: null,
    progress: {
      text: `step ${events.length} of 10`,
      current: events.length,
      total: 10,
      unit: "step",
      etaSeconds: 60,
      metrics: {},
    },
    events,
    dutyInMs: 1000,
  });
  if (answer !== "appended") throw new Error(`append: ${answer}`);
}
