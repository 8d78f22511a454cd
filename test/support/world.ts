import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Logger, pino } from "pino";
import { tokenHash } from "../../src/auth/tokens.ts";
import {
  type Adapters,
  createAdapters,
  type Ledger,
  openLedger,
  startDesk,
  startWorkers,
} from "../../src/compose.ts";
import type { Settings } from "../../src/config/settings.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { ToolDefinition } from "../../src/domain/tool.ts";
import { Tuning } from "../../src/domain/tuning.ts";
import { eventually } from "./eventually.ts";
import { clientOf, type FrontDesk, TOKENS, toolOf } from "./front-desk.ts";
import { startRedis, type TestRedis } from "./redis.ts";
import { removeTree } from "./remove-tree.ts";

export type WorldOptions = {
  readonly tools?: readonly ToolDefinition[];
  readonly tuning?: Partial<Tuning>;
  readonly maxConcurrent?: number;
  /** In place of one local target named `here`. */
  readonly targets?: Settings["targets"];
  readonly inlineWaitMs?: number;
  /** In place of one that says nothing. */
  readonly log?: Logger;
};

export type StreamEvent = { readonly seq: number; readonly type: string; readonly payload: JsonObject };

/** A whole Tailrace in this process: real Redis, real queues, real processes as jobs. */
export type World = Pick<FrontDesk, "post" | "call" | "open"> & {
  readonly url: string;
  readonly settings: Settings;
  readonly redis: TestRedis;
  readonly ledger: Ledger;
  readonly adapters: Adapters;
  readonly dir: string;
  /** Makes a task and answers its id. */
  start(tool: string, args?: JsonObject): Promise<string>;
  /** tasks/get once the task has ended. */
  ended(taskId: string, deadlineMs?: number): Promise<JsonObject>;
  /** All events of a task that has ended. */
  events(taskId: string, after?: number): Promise<StreamEvent[]>;
  stopWorkers(): Promise<void>;
  startWorkers(): Promise<void>;
  stop(): Promise<void>;
};

/** Short enough that a test of a dead worker need not wait for the times that suit production. */
export const QUICK = {
  observeEveryMs: 250,
  upkeepEveryMs: 300,
  dutyMs: 2_000,
  flushMs: 100,
  readMs: 50,
  quietReadMs: 200,
  cancelAgainMs: 500,
  submitTimeoutMs: 3_000,
  leaseMarginMs: 500,
  lockMs: 2_000,
  stalledMs: 1_000,
} satisfies Partial<Tuning>;

/** A tool whose script is given as text. */
export function scriptTool(name: string, text: string, fields: Partial<ToolDefinition> = {}): ToolDefinition {
  return toolOf({ name, run: { kind: "script", name: `${name}.sh`, text }, outputs: ["**"], ...fields });
}

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const redis = await startRedis();
  const dir = mkdtempSync(join(tmpdir(), "tr-world-"));
  const settings: Settings = {
    stateDir: dir,
    instance: "test",
    store: {
      url: redis.url,
      prefix: "{tr}",
      durability: "relaxed",
      eventPrefix: "dev.tailrace",
      claimTtlMs: 86_400_000,
    },
    listen: { host: "127.0.0.1", port: 0, allowedHosts: [], allowedOrigins: [] },
    auth: {
      kind: "tokens",
      tokens: Object.entries(TOKENS).map(([name, token]) => ({ name, sha256: tokenHash(token) })),
    },
    limits: { inlineWaitMs: options.inlineWaitMs ?? 10_000, streamsPerCaller: 64, streamsPerTask: 16 },
    targets: options.targets ?? {
      here: { scheduler: "local", maxConcurrent: options.maxConcurrent ?? 4, graceSeconds: 1 } as {
        scheduler: string;
      },
    },
    defaults: {},
    tools: options.tools ?? [],
    tuning: Tuning.parse({ ...QUICK, ...options.tuning }),
  };
  const log = options.log ?? pino({ level: process.env["TAILRACE_TEST_LOG"] ?? "silent" });
  const ledger = await openLedger(settings, log);
  const adapters = createAdapters(settings);
  const desk = await startDesk(settings, ledger, adapters, log);
  let workers = await startWorkers(settings, ledger, adapters, log);
  const client = clientOf(desk.url);
  return {
    ...client,
    url: desk.url,
    settings,
    redis,
    ledger,
    adapters,
    dir,
    async start(tool, args = {}) {
      const { result, error } = await client.call("tools/call", { name: tool, arguments: args });
      if (typeof result?.["taskId"] !== "string")
        throw new Error(`no task: ${JSON.stringify(error ?? result)}`);
      return result["taskId"];
    },
    ended: (taskId, deadlineMs = 20_000) =>
      eventually(async () => {
        const { result, error } = await client.call("tasks/get", { taskId });
        if (error !== undefined) throw new Error(JSON.stringify(error));
        const status = String(result["status"]);
        if (status === "working" || status === "input_required") throw new Error(JSON.stringify(result));
        return result;
      }, deadlineMs),
    events: (taskId, after) => readStream(client, taskId, after),
    stopWorkers: () => workers.close(),
    async startWorkers() {
      workers = await startWorkers(settings, ledger, adapters, log);
    },
    async stop() {
      await workers.close();
      await desk.close();
      for (const adapter of adapters.values()) await adapter.close();
      await ledger.close();
      await redis.stop();
      removeTree(dir);
    },
  };
}

async function readStream(
  client: Pick<FrontDesk, "open">,
  taskId: string,
  after?: number,
): Promise<StreamEvent[]> {
  const response = await client.open("tasks/stream", { taskId, ...(after === undefined ? {} : { after }) });
  return parseStream(await response.text());
}

/** The events of an SSE body, in order. Throws when it ended with an error. */
export function parseStream(body: string): StreamEvent[] {
  const messages = body
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice("data: ".length)) as { params?: StreamEvent; error?: unknown });
  const failure = messages.find((message) => message.error !== undefined);
  if (failure !== undefined) throw new Error(JSON.stringify(failure.error));
  return messages.flatMap((message) => message.params ?? []);
}
