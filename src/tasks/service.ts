import type { Hasten } from "../domain/advance.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Principal } from "../domain/principal.ts";
import type { Glance, TaskStore } from "../domain/store.ts";
import type { ToolDefinition } from "../domain/tool.ts";
import type { HistoryFactory } from "../domain/translator.ts";
import { cancelTask } from "./cancel.ts";
import { type CreateCall, type Created, createTask } from "./create.ts";
import { createFeeds } from "./feed.ts";
import { type LogRange, type LogText, type ReadLog, readTaskLog, type TaskLogSource } from "./log.ts";
import { createMetricsQueue, type MetricsRequest, readTaskMetrics } from "./metrics.ts";
import { glanceOwned } from "./owned.ts";
import { createStreamPlaces, type StreamLimits } from "./places.ts";
import { type EventStream, openStream, type StreamRequest } from "./stream.ts";
import { updateTask } from "./update.ts";
import { type Waited, type WaitRequest, waitForEnd } from "./wait.ts";

export type TaskLimits = StreamLimits & {
  /** All arguments of a call together, as JSON. */
  readonly maxArgumentBytes: number;
};

export const DEFAULT_TASK_LIMITS: TaskLimits = {
  streamsPerCaller: 64,
  streamsPerTask: 16,
  maxArgumentBytes: 512 * 1024,
};

export type TaskServiceDeps = {
  readonly store: TaskStore;
  readonly tools: () => ReadonlyMap<string, ToolDefinition>;
  /** Configured name of this installation; part of every mark. */
  readonly instance: string;
  readonly hasten: Hasten;
  readonly readLog: ReadLog;
  readonly createHistory: HistoryFactory;
  readonly limits: TaskLimits;
};

/**
 * What a front desk can ask for. Every method is bound to the caller: another's task, an expired one and one that never
 * was are the same `unknown_task`.
 */
export type TaskService = {
  create(caller: Principal, call: CreateCall): Promise<Created>;
  glance(caller: Principal, taskId: string): Promise<Glance>;
  cancel(caller: Principal, taskId: string): Promise<void>;
  update(caller: Principal, taskId: string, responses: JsonObject): Promise<void>;
  stream(caller: Principal, request: StreamRequest): Promise<EventStream>;
  waitForEnd(caller: Principal, request: WaitRequest): Promise<Waited>;
  readLog(
    caller: Principal,
    request: LogRange & { readonly taskId: string; readonly source: TaskLogSource },
  ): Promise<LogText>;
  metrics(caller: Principal, request: MetricsRequest): Promise<JsonObject>;
};

export function createTaskService(deps: TaskServiceDeps): TaskService {
  const feeds = createFeeds(deps.store);
  const places = createStreamPlaces(deps.limits);
  const queue = createMetricsQueue();
  return {
    create: (caller, call) => createTask(deps, caller, call),
    glance: (caller, taskId) => glanceOwned(deps.store, caller, taskId),
    cancel: (caller, taskId) => cancelTask(deps, caller, taskId),
    update: (caller, taskId, responses) => updateTask(deps, { caller, taskId }, responses),
    stream: (caller, request) => openStream({ feeds, places }, caller, request),
    waitForEnd: (caller, request) => waitForEnd({ store: deps.store, feeds }, caller, request),
    readLog: (caller, request) => readTaskLog(deps, caller, request),
    metrics: (caller, request) => readTaskMetrics({ ...deps, queue }, caller, request),
  };
}
