import type { Redis } from "ioredis";
import { checkDurability, type Durability } from "./durability.ts";
import { withFaults } from "./faults.ts";

/** What doctor says about the server behind the store. */
export type ServerFacts = {
  /** Such as `Redis 7.0.15` or `Valkey 8.0.1`; null when the server does not tell. */
  readonly version: string | null;
  /** The middle one of several round trips, in ms. */
  readonly latencyMs: number;
  readonly durability: Durability;
};

const ROUND_TRIPS = 5;

export async function describeServer(redis: Redis): Promise<ServerFacts> {
  return {
    latencyMs: await withFaults(() => measureLatency(redis)),
    version: await readVersion(redis),
    durability: await checkDurability(redis, "relaxed"),
  };
}

async function measureLatency(redis: Redis): Promise<number> {
  const times: number[] = [];
  for (let trip = 0; trip < ROUND_TRIPS; trip += 1) {
    const startedMs = performance.now();
    await redis.ping();
    times.push(performance.now() - startedMs);
  }
  return times.sort((a, b) => a - b)[Math.floor(ROUND_TRIPS / 2)] ?? 0;
}

async function readVersion(redis: Redis): Promise<string | null> {
  // Managed servers may forbid INFO, which is no reason to distrust them.
  const info = await redis.info("server").catch(() => "");
  const valkey = /^valkey_version:(\S+)/m.exec(info)?.[1];
  if (valkey !== undefined) return `Valkey ${valkey}`;
  const version = /^redis_version:(\S+)/m.exec(info)?.[1];
  return version === undefined ? null : `Redis ${version}`;
}
