import type { Method } from "../call.ts";
import { SUPPORTED_VERSIONS, TASKS_EXTENSION } from "../protocol.ts";

const TTL_MS = 300_000;

/** What this server is. The Tasks settings are exactly `{}`: clients take anything else for "no tasks". */
export const discover: Method = async (_, { reply, instructions }) =>
  reply.of({
    resultType: "complete",
    supportedVersions: [...SUPPORTED_VERSIONS],
    capabilities: { tools: {}, resources: {}, extensions: { [TASKS_EXTENSION]: {} } },
    ...(instructions === "" ? {} : { instructions }),
    ttlMs: TTL_MS,
    cacheScope: "private",
  });
