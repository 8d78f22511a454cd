import type { JsonObject } from "../../domain/json.ts";
import type { Method } from "../call.ts";
import { invalidParams } from "../errors.ts";
import { requiredText } from "../params.ts";
import { META, member } from "../protocol.ts";
import { requireTasks } from "../tiers.ts";

export const streamTask: Method = async (call, { tasks, reply }) => {
  requireTasks(call.meta);
  const taskId = requiredText(call.params, "taskId");
  const events = await tasks.stream(call.principal, {
    taskId,
    after: cursor(call.params),
    signal: call.signal,
  });
  const result = `{"resultType":"complete","_meta":{"${META.serverInfo}":${reply.serverInfo}}}`;
  return { kind: "stream", taskId, events, result };
};

function cursor(params: JsonObject): number | null {
  const after = member(params, "after");
  if (after === undefined) return null;
  if (typeof after !== "number" || !Number.isSafeInteger(after) || after < 0) {
    throw invalidParams("params.after must be an integer of 0 or more: the seq of the last event you have.");
  }
  return after;
}
