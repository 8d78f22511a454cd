import type { Redis } from "ioredis";
import type { RenderTask, TaskStore } from "../../src/domain/store.ts";
import {
  type ConnectionOptions,
  commandOptions,
  subscriberOptions,
  whenReady,
} from "../../src/store/connect.ts";
import { createRedisStore } from "../../src/store/redis-store.ts";

/** A store on a server that listens on this socket. */
export async function openStoreOn(
  path: string,
  open: (options: ConnectionOptions) => Redis,
  renderTask: RenderTask,
): Promise<{ readonly store: TaskStore; readonly commands: Redis }> {
  const commands = open(commandOptions({ path }, "bench-commands"));
  const subscriber = open(subscriberOptions({ path }, "bench-feed"));
  await Promise.all([whenReady(commands, 5_000), whenReady(subscriber, 5_000)]);
  return { commands, store: createRedisStore({ commands, subscriber, renderTask, claimTtlMs: 60_000 }) };
}
