import type { Redis } from "ioredis";
import type { Logger } from "pino";
import { TailraceError } from "../domain/errors.ts";
import { ANSWER_WITHIN_MS, withFaults } from "./faults.ts";

/** Where the server is, read from REDIS_URL or the embedded server's socket (`path`). */
export type RedisAddress = {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly tls?: { readonly servername: string };
};

/** Options that ioredis and BullMQ take alike. */
export type ConnectionOptions = RedisAddress & {
  readonly connectionName: string;
  readonly maxRetriesPerRequest: number | null;
  readonly enableOfflineQueue: boolean;
  readonly connectTimeout: number;
  readonly retryStrategy: (times: number) => number;
  readonly commandTimeout?: number;
  readonly enableAutoPipelining?: boolean;
  readonly autoResubscribe?: boolean;
};

const CLOSE_DEADLINE_MS = 1000;

/** `redis://[user:password@]host[:port][/db]`, `rediss://…` (TLS) or `unix:///path/to/socket`. Errors hold no password. */
export function parseRedisUrl(text: string): RedisAddress {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === "unix:" && url.pathname.length > 1) return { path: decodeURIComponent(url.pathname) };
  if (url === null || (url.protocol !== "redis:" && url.protocol !== "rediss:") || url.hostname === "") {
    throw new TailraceError(
      "store_mismatch",
      "REDIS_URL is not usable: expected redis://[user:password@]host[:port][/db], rediss://… or unix:///path/to/socket",
    );
  }
  const db = url.pathname.replace(/^\//, "");
  if (!/^\d*$/.test(db)) {
    throw new TailraceError("store_mismatch", `REDIS_URL names the database "${db}": expected a number`);
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? 6379 : Number(url.port),
    ...(url.username === "" ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === "" ? {} : { password: decodeURIComponent(url.password) }),
    ...(db === "" ? {} : { db: Number(db) }),
    ...(url.protocol === "rediss:" ? { tls: { servername: url.hostname } } : {}),
  };
}

/** For the store's commands, and for queues that only add: an answer or an error within two seconds, never a wait. */
export function commandOptions(address: RedisAddress, name: string): ConnectionOptions {
  return {
    ...address,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    commandTimeout: ANSWER_WITHIN_MS,
    connectTimeout: ANSWER_WITHIN_MS,
    retryStrategy,
    enableAutoPipelining: true,
    connectionName: name,
  };
}

/** For BullMQ workers: they block on reads and wait a failure out, so there is no command timeout. */
export function workerOptions(address: RedisAddress, name: string): ConnectionOptions {
  return {
    ...address,
    maxRetriesPerRequest: null,
    enableOfflineQueue: true,
    connectTimeout: ANSWER_WITHIN_MS,
    retryStrategy,
    connectionName: name,
  };
}

/** For the feed: subscribed anew by itself after a failure. */
export function subscriberOptions(address: RedisAddress, name: string): ConnectionOptions {
  return { ...workerOptions(address, name), autoResubscribe: true };
}

/** Back within a second of the server's return; the libraries' own delays grow to 5 and 20 s. */
function retryStrategy(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 6), 1000);
}

/** An `error` event without a handler ends the process. Says once that the connection is lost and once that it is back. */
export function logConnection(redis: Redis, name: string, logger: Pick<Logger, "warn" | "info">): void {
  let isLost = false;
  redis.on("error", (error: Error) => {
    if (isLost) return;
    isLost = true;
    logger.warn(
      { event: "store.connection_lost", connection: name, reason: error.message },
      "Redis is away; retrying",
    );
  });
  redis.on("ready", () => {
    if (!isLost) return;
    isLost = false;
    logger.info({ event: "store.connection_restored", connection: name }, "Redis is back");
  });
}

/** Resolves once commands can be sent; `store_unavailable` when that takes longer than the deadline. */
export async function whenReady(redis: Redis, deadlineMs: number): Promise<void> {
  if (redis.status === "ready") return;
  let lastError: Error | undefined;
  await new Promise<void>((resolve, reject) => {
    const stop = (finish: () => void) => {
      clearTimeout(timer);
      redis.off("ready", onReady).off("error", onError).off("end", onEnd);
      finish();
    };
    const giveUp = () => {
      const why = lastError === undefined ? "no answer" : lastError.message;
      const message = `Redis is not reachable after ${deadlineMs} ms: ${why}`;
      stop(() => reject(new TailraceError("store_unavailable", message, { cause: lastError })));
    };
    const onReady = () => stop(resolve);
    const onError = (error: Error) => {
      lastError = error;
    };
    const onEnd = giveUp;
    const timer = setTimeout(giveUp, deadlineMs);
    redis.on("ready", onReady).on("error", onError).on("end", onEnd);
  });
}

/** Lets outstanding commands finish, for a second at most. Safe to call twice, and on a connection that never came up. */
export async function closeRedis(redis: Redis): Promise<void> {
  if (redis.status === "end") return;
  if (redis.status === "ready") {
    const deadline = new AbortController();
    await Promise.race([
      withFaults(() => redis.quit()).catch(() => undefined), // it is going away: disconnect below is what counts
      wait(CLOSE_DEADLINE_MS, deadline.signal),
    ]);
    deadline.abort();
  }
  redis.disconnect();
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
