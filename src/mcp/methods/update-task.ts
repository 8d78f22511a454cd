import type { Method } from "../call.ts";
import { optionalObject, requiredText } from "../params.ts";
import { requireTasks } from "../tiers.ts";

/** Not held to the published schema: junk under keys that nobody asked for has to be acknowledged (T8). */
export const updateTask: Method = async (call, { tasks, reply }) => {
  requireTasks(call.meta);
  const taskId = requiredText(call.params, "taskId");
  await tasks.update(call.principal, taskId, optionalObject(call.params, "inputResponses"));
  return reply.of({ resultType: "complete" });
};
