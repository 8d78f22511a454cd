import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { Redis } from "ioredis";
import type { Logger } from "pino";
import { createAdapter } from "../adapters/registry.ts";
import { createHistory } from "../adapters/solvers/history.ts";
import { createPipeline } from "../adapters/solvers/pipeline.ts";
import { ask } from "../workers/ask.ts";
import { readLogRange } from "../workers/log-range.ts";
import { createLogRoom } from "../workers/log-room.ts";
import { createHastener, type Hastener } from "../workers/queues.ts";
import { startTargetWorkers } from "../workers/run.ts";
import { DRAWN_TOKEN_NAME, ensureDrawnToken } from "./auth/drawn-token.ts";
import { authenticateNobody, authenticateTokens, tokenHash } from "./auth/tokens.ts";
import { createResultCheck } from "./config/check-result.ts";
import type { Settings } from "./config/settings.ts";
import type { SchedulerAdapter } from "./domain/adapter.ts";
import { TailraceError } from "./domain/errors.ts";
import type { Authenticate } from "./domain/principal.ts";
import type { TaskStore } from "./domain/store.ts";
import { createDispatcher } from "./mcp/dispatch.ts";
import { createHttpApp, DEFAULT_MAX_BODY_BYTES, LOOPBACK_HOSTS } from "./mcp/http.ts";
import { DEFAULT_SSE } from "./mcp/sse.ts";
import { renderTask } from "./mcp/wire.ts";
import { VERSION } from "./observe/version.ts";
import {
  commandOptions,
  logConnection,
  parseRedisUrl,
  type RedisAddress,
  subscriberOptions,
  whenReady,
  workerOptions,
} from "./store/connect.ts";
import { describeServer, type ServerFacts } from "./store/describe.ts";
import { checkDurability } from "./store/durability.ts";
import { startEmbedded } from "./store/embedded.ts";
import { createRedisStore } from "./store/redis-store.ts";
import { checkSchema } from "./store/schema.ts";
import type { ReadLog } from "./tasks/log.ts";
import { createTaskService, DEFAULT_TASK_LIMITS } from "./tasks/service.ts";

const READY_MS = 15_000;
const DRAIN_MS = 5_000;

type Closing = { close(): Promise<void> };

/** The opened store with what hangs on it. */
export type Ledger = Closing & {
  readonly store: TaskStore;
  readonly address: RedisAddress;
  readonly hastener: Hastener;
  /** Which server keeps the tasks, for people. */
  readonly where: string;
  describe(): Promise<ServerFacts>;
};

/** Opens the store that the settings name, or the embedded one. Throws with what to do when there is none. */
export async function openLedger(settings: Settings, log: Logger): Promise<Ledger> {
  const { url, prefix, eventPrefix, claimTtlMs, durability } = settings.store;
  const embedded =
    url === null
      ? await startEmbedded({
          stateDir: settings.stateDir,
          searchPath: process.env["PATH"] ?? "",
          logger: log,
        })
      : null;
  const address = embedded?.address ?? parseRedisUrl(url ?? "");
  const commands = new Redis(commandOptions(address, "tr-commands"));
  const subscriber = new Redis(subscriberOptions(address, "tr-feed"));
  const queueing = new Redis(commandOptions(address, "tr-queues"));
  const connections = [commands, subscriber, queueing];
  for (const redis of connections) logConnection(redis, redis.options.connectionName ?? "", log);
  try {
    await Promise.all(connections.map((redis) => whenReady(redis, READY_MS)));
    await checkSchema(commands, prefix);
    if (embedded === null) await warnOfWeakness(commands, durability, log);
  } catch (error) {
    for (const redis of connections) redis.disconnect();
    await embedded?.stop();
    throw error;
  }
  const store = createRedisStore({ commands, subscriber, renderTask, claimTtlMs, prefix, eventPrefix });
  const hastener = createHastener({ connection: queueing, prefix, log });
  return {
    store,
    address,
    hastener,
    where: embedded === null ? "external Redis" : `embedded Redis (${embedded.origin})`,
    describe: () => describeServer(commands),
    close: closeOnce(async () => {
      await hastener.close();
      queueing.disconnect();
      await store.close();
      await embedded?.stop();
    }),
  };
}

async function warnOfWeakness(commands: Redis, wanted: "strict" | "relaxed", log: Logger): Promise<void> {
  const found = await checkDurability(commands, wanted);
  if (found.kind === "relaxed") log.warn({ event: "store.relaxed", weaknesses: found.weaknesses });
  if (found.kind === "unknown") log.warn({ event: "store.durability_unknown", why: found.why });
}

/** Makes a closing that may be called twice. */
function closeOnce(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | null = null;
  return () => {
    closing ??= close();
    return closing;
  };
}

export type Adapters = ReadonlyMap<string, SchedulerAdapter>;

export function createAdapters(settings: Settings): Adapters {
  const { stateDir, instance } = settings;
  return new Map(
    Object.entries(settings.targets).map(([target, config]) => [
      target,
      createAdapter(config, { target, stateDir, instance, defaults: settings.defaults[target] ?? {} }),
    ]),
  );
}

export type Desk = Closing & { readonly url: string };

/** The HTTP front desk on the configured address. */
export async function startDesk(
  settings: Settings,
  ledger: Ledger,
  adapters: Adapters,
  log: Logger,
): Promise<Desk> {
  const tools = new Map(settings.tools.map((tool) => [tool.name, tool]));
  const tasks = createTaskService({
    store: ledger.store,
    tools: () => tools,
    instance: settings.instance,
    hasten: ledger.hastener.hasten,
    readLog: logReader(adapters, settings.tuning.callTimeoutMs),
    createHistory,
    limits: { ...DEFAULT_TASK_LIMITS, ...settings.limits },
  });
  const dispatcher = createDispatcher({
    tasks,
    tools: () => tools,
    isTargetKnown: (target) => target in settings.targets,
    serverInfo: { name: "tailrace", version: VERSION },
    instructions: INSTRUCTIONS,
    inlineWaitMs: settings.limits.inlineWaitMs,
    log,
  });
  const stopping = new AbortController();
  const { listen } = settings;
  const app = createHttpApp({
    dispatcher,
    authenticate: await authenticator(settings),
    allowedHosts: listen.allowedHosts === null ? null : [...LOOPBACK_HOSTS, ...listen.allowedHosts],
    allowedOrigins: [...LOOPBACK_HOSTS, ...listen.allowedOrigins],
    maxBodyBytes: DEFAULT_MAX_BODY_BYTES,
    sse: DEFAULT_SSE,
    stopping: stopping.signal,
    log,
  });
  const server = serve({ fetch: app.fetch, port: listen.port, hostname: listen.host }) as Server;
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const host = listen.host.includes(":") ? `[${listen.host}]` : listen.host;
  return {
    url: `http://${host}:${port}/mcp`,
    close: closeOnce(async () => {
      stopping.abort();
      const closed = once(server, "close");
      server.close();
      const hurry = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      server.closeIdleConnections();
      await closed;
      clearTimeout(hurry);
    }),
  };
}

/** Reads a log where it lies, through the target's adapter: any replica that reaches the target can. */
function logReader(adapters: Adapters, timeoutMs: number): ReadLog {
  return async (record, source, range) => {
    const adapter = adapters.get(record.target);
    const { job } = record;
    if (adapter === undefined || job === null) {
      throw new TailraceError("target_unavailable", `Target ${record.target} is not configured here.`);
    }
    return readLogRange(adapter, { job, source, ...range }, AbortSignal.timeout(timeoutMs));
  };
}

const INSTRUCTIONS =
  "Each tool runs a batch or HPC job. A call returns a task: poll it with tasks/get or follow it with tasks/stream. " +
  "Give an idempotencyKey, so that a repeated call finds the same job instead of starting another.";

async function authenticator({ auth, stateDir }: Settings): Promise<Authenticate> {
  if (auth.kind === "none") return authenticateNobody();
  if (auth.kind === "tokens") return authenticateTokens(auth.tokens);
  return authenticateTokens([
    { name: DRAWN_TOKEN_NAME, sha256: tokenHash(await ensureDrawnToken(stateDir)) },
  ]);
}

/** The workers of every target of the settings. */
export async function startWorkers(
  settings: Settings,
  ledger: Ledger,
  adapters: Adapters,
  log: Logger,
): Promise<Closing> {
  // Shared by all workers; BullMQ opens one more for each that blocks.
  const connection = new Redis(workerOptions(ledger.address, "tr-worker"));
  logConnection(connection, "tr-worker", log);
  const running: Closing[] = [];
  for (const [target, adapter] of adapters) {
    const { tuning } = settings;
    const logs = createLogRoom({
      readLogs: (requests) =>
        ask({ target }, { withinMs: tuning.callTimeoutMs }, (signal) => adapter.readLogs(requests, signal)),
      clock: () => performance.now(),
      gatherMs: 10,
    });
    const { hasten } = ledger.hastener;
    const deps = {
      target,
      store: ledger.store,
      adapter,
      hasten,
      createPipeline,
      checkResult: createResultCheck(),
      logs,
      tuning,
      log,
    };
    running.push(await startTargetWorkers(deps, { connection, prefix: settings.store.prefix }));
  }
  return {
    close: closeOnce(async () => {
      await Promise.all(running.map((workers) => workers.close()));
      connection.disconnect();
    }),
  };
}
