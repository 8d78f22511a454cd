import type { Redis } from "ioredis";
import type { RenderTask, TaskStore } from "../domain/store.ts";
import { closeRedis } from "./connect.ts";
import type { StoreContext } from "./context.ts";
import { withFaults } from "./faults.ts";
import { createFeed } from "./feed.ts";
import { DEFAULT_PREFIX, storeKeys } from "./keys.ts";
import { glance, readEvents, readRecords, readSpec, readTask, takeOver } from "./reads.ts";
import { oneOf, replyRow, required } from "./reply.ts";
import { RESCHEDULE, TAKE_DUE } from "./scripts/duties.lua.ts";
import { EXPIRED, PURGE } from "./scripts/purge.lua.ts";
import { runScript, type Script, type ScriptArgs } from "./scripts/script.ts";
import { appendEvents, commitTask, createTask } from "./writes.ts";

export type RedisStoreOptions = {
  /** Made with `commandOptions`. The store closes it. */
  readonly commands: Redis;
  /** Made with `subscriberOptions`; used for nothing else. The store closes it. */
  readonly subscriber: Redis;
  readonly renderTask: RenderTask;
  /** How long the tombstone of a purged task's claim stays. */
  readonly claimTtlMs: number;
  /** The hash tag of all keys. */
  readonly prefix?: string;
  /** What stands before the type of each event. */
  readonly eventPrefix?: string;
  /** Per task; what is over goes from the front. Nothing is trimmed without them. */
  readonly maxEvents?: number;
  readonly maxBytes?: number;
  /** How often watchers are called back although nothing was heard. */
  readonly safetyNetMs?: number;
};

/** Members that one reschedule call carries. */
const RESCHEDULE_BATCH = 1000;
const SCAN_COUNT = 1000;

/** The ledger on Redis (6.2 or newer) or Valkey. Holds no state of its own: any number of them may share one server. */
export function createRedisStore(options: RedisStoreOptions): TaskStore {
  const { commands, subscriber } = options;
  const keys = storeKeys(options.prefix ?? DEFAULT_PREFIX);
  const feed = createFeed(subscriber, keys.nudge, options.safetyNetMs);
  const context: StoreContext = {
    commands,
    keys,
    eventPrefix: options.eventPrefix ?? "dev.tailrace",
    renderTask: options.renderTask,
    claimTtlMs: options.claimTtlMs,
    maxEvents: options.maxEvents ?? 0,
    maxBytes: options.maxBytes ?? 0,
  };
  return {
    now: () => withFaults(() => serverNow(commands)),
    create: (request) => createTask(context, request),
    read: (taskId) => readTask(context, taskId),
    readMany: (taskIds) => readRecords(context, taskIds),
    readSpec: (taskId) => readSpec(context, taskId),
    glance: (taskId) => glance(context, taskId),
    list: (owner, limit) => newest(commands, keys.owner(owner), limit),
    listTarget: (target, limit) => newest(commands, keys.target(target), limit),
    targets: () => targetsWithTasks(context),
    commit: (request) => commitTask(context, request),
    takeOver: (taskId) => takeOver(context, taskId),
    append: (request) => appendEvents(context, request),
    readEvents: (taskId, after, limit) => readEvents(context, taskId, { after, limit }),
    watchTask: (taskId, onChange) => feed.watch(taskId, onChange),
    takeDue: (target, kind, { limit, againInMs }) =>
      members(commands, TAKE_DUE, {
        keys: [kind === "watch" ? keys.poll(target) : keys.due(target)],
        argv: [limit, againInMs],
      }),
    reschedule: (target, changes) => reschedule(context, target, changes),
    expired: (limit) => members(commands, EXPIRED, { keys: [keys.expiry], argv: [limit] }),
    purge: (taskId) => purge(context, taskId),
    async close() {
      feed.close();
      await Promise.all([closeRedis(commands), closeRedis(subscriber)]);
    },
  };
}

async function serverNow(redis: Redis): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

function newest(redis: Redis, key: string, limit: number): Promise<string[]> {
  if (limit <= 0) return Promise.resolve([]);
  return withFaults(() => redis.zrevrange(key, 0, limit - 1));
}

async function targetsWithTasks({ commands, keys }: StoreContext): Promise<string[]> {
  const start = keys.target("");
  // The prefix is the operator's: what means something in a pattern stands for itself.
  const match = `${start.replace(/[\\*?[\]]/g, "\\$&")}*`;
  const found = new Set<string>();
  let cursor = "0";
  do {
    const [next, page] = await withFaults(() => commands.scan(cursor, "MATCH", match, "COUNT", SCAN_COUNT));
    cursor = next;
    for (const key of page) found.add(key.slice(start.length));
  } while (cursor !== "0");
  return [...found].sort();
}

async function members(redis: Redis, script: Script, args: ScriptArgs): Promise<string[]> {
  const row = replyRow(await runScript(redis, script, args)) ?? [];
  return row.map((member) => required(member, "member"));
}

async function reschedule(
  { commands, keys }: StoreContext,
  target: string,
  changes: readonly { member: string; inMs: number }[],
): Promise<void> {
  for (let from = 0; from < changes.length; from += RESCHEDULE_BATCH) {
    const batch = changes.slice(from, from + RESCHEDULE_BATCH);
    await runScript(commands, RESCHEDULE, {
      keys: [keys.due(target), keys.poll(target)],
      argv: batch.flatMap(({ member, inMs }) => [member.startsWith("watch:") ? 2 : 1, member, inMs]),
    });
  }
}

async function purge(
  { commands, keys, claimTtlMs }: StoreContext,
  taskId: string,
): Promise<"purged" | "alive" | "gone"> {
  // These never change, so reading them before the script is no race; a Cluster wants all keys named beforehand.
  const [owner, target, claim] = await withFaults(() => commands.hmget(keys.task(taskId), "ow", "tg", "ik"));
  const reply = await runScript(commands, PURGE, {
    keys: [
      ...[keys.task(taskId), keys.events(taskId), keys.claim(claim ?? "")],
      ...[keys.owner(owner ?? ""), keys.target(target ?? ""), keys.expiry],
    ],
    argv: [taskId, claimTtlMs, keys.nudge],
  });
  return oneOf(reply, ["purged", "alive", "gone"]);
}
