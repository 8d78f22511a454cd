import type { Method } from "../call.ts";

const TTL_MS = 300_000;

/** Resources here belong to tasks, whose ids their callers hold: none has a fixed address to list. */
export const listResources: Method = async (_, { reply }) =>
  reply.of({ resultType: "complete", resources: [], ttlMs: TTL_MS, cacheScope: "private" });

export const listResourceTemplates: Method = async (_, { reply }) =>
  reply.of({
    resultType: "complete",
    resourceTemplates: [
      {
        uriTemplate: "tailrace://task/{taskId}/log{?source,offset}",
        name: "task-log",
        title: "Output of a task's job",
        description:
          "source: stdout (default) or stderr. offset: bytes from the start; each part says where to go on.",
        mimeType: "text/plain",
      },
    ],
    ttlMs: TTL_MS,
    cacheScope: "private",
  });
