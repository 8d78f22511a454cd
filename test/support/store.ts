import { createHash, randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import type { JobSpec } from "../../src/domain/adapter.ts";
import { lifecycleEvent } from "../../src/domain/event.ts";
import type { CreateRequest, TaskStore } from "../../src/domain/store.ts";
import type { TaskRecord } from "../../src/domain/task.ts";
import type { Progress } from "../../src/domain/translator.ts";
import { createRedisStore, type RedisStoreOptions } from "../../src/store/redis-store.ts";
import { newRecord } from "../../src/tasks/record.ts";
import type { TestRedis } from "./redis.ts";

export type OpenStore = { readonly store: TaskStore; readonly commands: Redis; readonly subscriber: Redis };

/** A store with connections of its own, as another process would have it. Its doc is `{"phase":…,"rev":…}`. */
export async function openStore(
  redis: TestRedis,
  options: Partial<RedisStoreOptions> = {},
): Promise<OpenStore> {
  const commands = await redis.connect("commands");
  const subscriber = await redis.connect("subscriber");
  const renderTask = (record: TaskRecord) => JSON.stringify({ phase: record.phase, rev: record.phaseRev });
  const store = createRedisStore({ commands, subscriber, renderTask, claimTtlMs: 60_000, ...options });
  return { store, commands, subscriber };
}

export const SPEC: JobSpec = {
  tool: "demo",
  run: { kind: "argv", argv: ["true"] },
  args: { n: 1 },
  env: {},
  resources: { cpus: 1, walltimeSeconds: 60, gpus: 0 },
  outputs: [],
  solver: "generic",
  progress: {},
  options: {},
};

export const PROGRESS: Progress = {
  text: "step 1",
  current: 1,
  total: 10,
  unit: "step",
  etaSeconds: 9,
  metrics: {},
};

export function newTaskId(): string {
  return `t_${randomBytes(18).toString("base64url")}`;
}

/** A freshly accepted task. */
export function sampleRecord(fields: Partial<TaskRecord> = {}): TaskRecord {
  const identity = {
    id: newTaskId(),
    owner: "alice",
    tool: "demo",
    target: "here",
    mark: "tr-test-aaaaaaaaaaaaaaaaaaaaaaaaaa",
    createdAtMs: 1_700_000_000_000,
    keepMs: 60_000,
    walltimeSeconds: 60,
    expiresAtMs: 4_000_000_000_000,
  };
  return { ...newRecord(identity), ...fields };
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** A create request with a claim of its own, unless told otherwise. */
export function createRequest(fields: Partial<CreateRequest> = {}): CreateRequest {
  const record = fields.record ?? sampleRecord();
  return {
    claim: sha256(`claim of ${record.id}`),
    argsHash: sha256("arguments"),
    record,
    spec: SPEC,
    events: [lifecycleEvent("task.accepted", record.createdAtMs)],
    claimWindowMs: null,
    ...fields,
  };
}

/** The next record: fields changed, phaseRev raised. */
export function next(record: TaskRecord, fields: Partial<TaskRecord>): TaskRecord {
  return { ...record, ...fields, phaseRev: record.phaseRev + 1 };
}
