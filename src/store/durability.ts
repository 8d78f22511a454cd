import type { Redis } from "ioredis";
import { TailraceError } from "../domain/errors.ts";
import { withFaults } from "./faults.ts";

/** `unknown`: the server does not tell, as managed ones do; the reason is for a warning. */
export type Durability =
  | { readonly kind: "strict" }
  | { readonly kind: "relaxed"; readonly weaknesses: readonly string[] }
  | { readonly kind: "unknown"; readonly why: string };

/** What an accepted task relies on, and what is lost without it. */
const NEEDS: readonly { setting: string; value: string; else: string }[] = [
  { setting: "appendonly", value: "yes", else: "accepted tasks since the last snapshot are lost in a crash" },
  {
    setting: "appendfsync",
    value: "always",
    else: "the last second or so of accepted tasks is lost in a crash",
  },
  { setting: "maxmemory-policy", value: "noeviction", else: "tasks are dropped when memory is full" },
];

/**
 * Asks an external server whether it keeps what it acknowledges. With `strict` a weaker one is refused, and the message
 * names each setting; with `relaxed` the weaknesses are returned, to be said in a warning.
 */
export async function checkDurability(redis: Redis, wanted: "strict" | "relaxed"): Promise<Durability> {
  const found = await readSettings(redis);
  if (typeof found === "string") return { kind: "unknown", why: found };
  // Without an append-only file its fsync setting says nothing.
  const relevant = NEEDS.filter(
    ({ setting }) => setting !== "appendfsync" || found.get("appendonly") === "yes",
  );
  const weaknesses = relevant
    .filter(({ setting, value }) => found.get(setting) !== value)
    .map(
      (need) => `${need.setting} is ${found.get(need.setting) ?? "unknown"}, not ${need.value}: ${need.else}`,
    );
  if (weaknesses.length === 0) return { kind: "strict" };
  if (wanted === "relaxed") return { kind: "relaxed", weaknesses };
  throw new TailraceError(
    "store_mismatch",
    `the Redis server keeps less than tailrace promises (${weaknesses.join("; ")}). Change its settings, or accept this with durability: relaxed`,
  );
}

async function readSettings(redis: Redis): Promise<Map<string, string> | string> {
  const settings = new Map<string, string>();
  for (const { setting } of NEEDS) {
    try {
      const reply: unknown = await redis.config("GET", setting);
      const value: unknown = Array.isArray(reply) ? reply[1] : undefined;
      if (typeof value === "string") settings.set(setting, value);
    } catch (error) {
      if (error instanceof Error && /^NOPERM|unknown command|unknown subcommand/i.test(error.message)) {
        return `the server does not let us read its settings (${error.message}): its durability is not known`;
      }
      await withFaults(() => Promise.reject(error));
    }
  }
  return settings;
}
