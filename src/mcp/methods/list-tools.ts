import type { Method } from "../call.ts";
import { listTools } from "../tools.ts";

const TTL_MS = 60_000;

export const toolsList: Method = async (_, { reply, tools }) =>
  reply.of({ resultType: "complete", tools: listTools(tools()), ttlMs: TTL_MS, cacheScope: "private" });
