import type { Method } from "../call.ts";
import { requiredText } from "../params.ts";
import { requireTasks } from "../tiers.ts";
import { finishDoc } from "../wire.ts";

/** One read of the store and a splice: this is what clients call most. */
export const getTask: Method = async (call, { tasks, reply, isTargetKnown }) => {
  requireTasks(call.meta);
  const glance = await tasks.glance(call.principal, requiredText(call.params, "taskId"));
  return { kind: "result", result: finishDoc(glance, { serverInfo: reply.serverInfo, isTargetKnown }) };
};
