import { type Ledger, openLedger } from "../../compose.ts";
import type { Settings } from "../../config/settings.ts";
import { createLogger } from "../../observe/logger.ts";
import { type Finding, findingsOf, reason } from "./finding.ts";

const SLOW_MS = 20;
const { ok, warn, fail } = findingsOf("store");

/** Opens the store as a server would. The embedded one is started when nobody has, and stopped again. */
export async function checkStore(settings: Settings): Promise<Finding[]> {
  let ledger: Ledger;
  try {
    ledger = await openLedger(settings, createLogger({ level: "silent" }));
  } catch (error) {
    return [fail("Redis", reason(error), "without its store no server starts")];
  }
  try {
    const { version, latencyMs, durability } = await ledger.describe();
    const latency = `${latencyMs.toFixed(1)} ms`;
    const isSlow = latencyMs > SLOW_MS;
    return [
      ok("Redis", `${ledger.where}, ${version ?? "version not told"}`),
      durability.kind === "strict"
        ? ok("durability", "every accepted task is on disk before it is acknowledged")
        : warn(
            "durability",
            durability.kind === "relaxed" ? durability.weaknesses.join("; ") : durability.why,
            "set appendonly yes, appendfsync always and maxmemory-policy noeviction, or live with what a crash then loses",
          ),
      isSlow
        ? warn("round trip", latency, "each call waits for several of them: move the store nearer")
        : ok("round trip", latency),
    ];
  } catch (error) {
    return [fail("Redis", reason(error), "see the server's log")];
  } finally {
    await ledger.close();
  }
}
