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
      {
        uriTemplate: "tailrace://task/{taskId}/metrics{?only}",
        name: "task-metrics",
        title: "Progress, residuals and metrics of a task",
        description:
          "The newest values, and every residual and metric in the job's log at full resolution. only: one field or metric.",
        mimeType: "application/json",
      },
    ],
    ttlMs: TTL_MS,
    cacheScope: "private",
  });
