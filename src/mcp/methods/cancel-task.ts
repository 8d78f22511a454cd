import type { Method } from "../call.ts";
import { requiredText } from "../params.ts";
import { requireTasks } from "../tiers.ts";

export const cancelTask: Method = async (call, { tasks, reply }) => {
  requireTasks(call.meta);
  await tasks.cancel(call.principal, requiredText(call.params, "taskId"));
  return reply.of({ resultType: "complete" });
};
