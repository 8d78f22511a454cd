import type { JsonObject } from "../domain/json.ts";
import { RpcError } from "./errors.ts";
import { isObject, META, member, RPC, TASKS_EXTENSION } from "./protocol.ts";

/** What this client declares, request by request: nothing is remembered. The old `capabilities.tasks` does not count. */
export function declaresTasks(meta: JsonObject): boolean {
  const capabilities = member(meta, META.clientCapabilities);
  const extensions = isObject(capabilities) ? member(capabilities, "extensions") : undefined;
  return isObject(extensions) && isObject(member(extensions, TASKS_EXTENSION));
}

export function requireTasks(meta: JsonObject): void {
  if (declaresTasks(meta)) return;
  throw tasksRequired("This method needs a client that declares the Tasks extension.");
}

export function tasksRequired(message: string): RpcError {
  return new RpcError({ code: RPC.missingCapability, httpStatus: 400 }, message, {
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  });
}
