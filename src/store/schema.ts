import type { Redis } from "ioredis";
import { TailraceError } from "../domain/errors.ts";
import { withFaults } from "./faults.ts";
import { DEFAULT_PREFIX, storeKeys } from "./keys.ts";

/** Grows with every change of keys, fields or scripts that an older or newer process would misread. */
export const SCHEMA_VERSION = "1";

const OLDEST_SERVER = [6, 2] as const;

/**
 * Claims an empty store for this version; refuses one of another version, and a server older than 6.2. To be called once
 * per process, before the store is used.
 */
export async function checkSchema(redis: Redis, prefix = DEFAULT_PREFIX): Promise<void> {
  await checkServerVersion(redis);
  const key = storeKeys(prefix).schema;
  const found = await withFaults(async () => {
    await redis.setnx(key, SCHEMA_VERSION);
    return redis.get(key);
  });
  if (found === SCHEMA_VERSION) return;
  throw new TailraceError(
    "store_mismatch",
    `the store has schema version ${JSON.stringify(found)}, this tailrace needs "${SCHEMA_VERSION}": run the version that wrote it, or use an empty Redis or another prefix (now "${prefix}")`,
  );
}

async function checkServerVersion(redis: Redis): Promise<void> {
  let info: string;
  try {
    info = await redis.info("server");
  } catch (error) {
    // Some managed servers forbid INFO; they are newer than any that this check is about.
    if (error instanceof Error && /^NOPERM|unknown command/.test(error.message)) return;
    await withFaults(() => Promise.reject(error));
    return;
  }
  // Valkey says which Redis it stands in for in the same field.
  const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? "unknown";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [needMajor, needMinor] = OLDEST_SERVER;
  if (major > needMajor || (major === needMajor && minor >= needMinor)) return;
  throw new TailraceError(
    "store_mismatch",
    `the Redis server is version ${version}: 6.2 or newer, or Valkey, is needed`,
  );
}
