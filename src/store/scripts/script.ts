import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import { withFaults } from "../faults.ts";

/** A Lua script with the name that the server knows it by. */
export type Script = { readonly lua: string; readonly sha: string };

export type ScriptArgs = { readonly keys: readonly string[]; readonly argv: readonly (string | number)[] };

export function defineScript(lua: string): Script {
  return { lua, sha: createHash("sha1").update(lua).digest("hex") };
}

/**
 * Runs a script by its hash: one round trip, which auto-pipelining merges with others. A server that was restarted has
 * forgotten it and says NOSCRIPT before doing anything, so sending the text then cannot apply it twice.
 */
export function runScript(redis: Redis, script: Script, { keys, argv }: ScriptArgs): Promise<unknown> {
  return withFaults(async () => {
    try {
      return await redis.evalsha(script.sha, keys.length, ...keys, ...argv);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
      return redis.eval(script.lua, keys.length, ...keys, ...argv);
    }
  });
}

/** A list inside ARGV, as `TAKE_LIST` reads it back: its length, then its items. */
export function listArg(items: readonly (string | number)[]): (string | number)[] {
  return [items.length, ...items];
}
