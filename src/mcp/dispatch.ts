import type { JsonObject } from "../domain/json.ts";
import type { Call, FrontDeskDeps, Method, MethodDeps, Reply, ReplyMaker } from "./call.ts";
import { RpcError } from "./errors.ts";
import { callTool } from "./methods/call-tool.ts";
import { cancelTask } from "./methods/cancel-task.ts";
import { discover } from "./methods/discover.ts";
import { getTask } from "./methods/get-task.ts";
import { listResources, listResourceTemplates } from "./methods/list-resources.ts";
import { toolsList } from "./methods/list-tools.ts";
import { readResource } from "./methods/read-resource.ts";
import { streamTask } from "./methods/stream-task.ts";
import { updateTask } from "./methods/update-task.ts";
import { isObject, META, RPC } from "./protocol.ts";

/** The methods of revision 2026-07-28. A Map: method names come from outside. */
const METHODS: ReadonlyMap<string, Method> = new Map([
  ["server/discover", discover],
  ["tools/list", toolsList],
  ["tools/call", callTool],
  ["tasks/get", getTask],
  ["tasks/update", updateTask],
  ["tasks/cancel", cancelTask],
  ["tasks/stream", streamTask],
  ["resources/list", listResources],
  ["resources/templates/list", listResourceTemplates],
  ["resources/read", readResource],
]);

export type Dispatcher = {
  /** Throws RpcError −32601 (C4). Apart from `dispatch` because a transport tells this before it looks at names. */
  checkMethod(method: string): void;
  /** Faults are thrown, as TailraceError or RpcError. */
  dispatch(call: Call): Promise<Reply>;
};

export function createDispatcher(deps: FrontDeskDeps): Dispatcher {
  const methodDeps: MethodDeps = { ...deps, reply: createReplyMaker(deps) };
  function methodOf(name: string): Method {
    const method = METHODS.get(name);
    if (method === undefined) {
      const message = `There is no method ${JSON.stringify(name.slice(0, 80))} here.`;
      throw new RpcError({ code: RPC.methodNotFound, httpStatus: 404 }, message);
    }
    return method;
  }
  return {
    checkMethod: (method) => void methodOf(method),
    dispatch: (call) => methodOf(call.method)(call, methodDeps),
  };
}

function createReplyMaker({ serverInfo }: FrontDeskDeps): ReplyMaker {
  return {
    serverInfo: JSON.stringify(serverInfo),
    of(result: JsonObject): Reply {
      const given = result["_meta"];
      const meta = { ...(isObject(given) ? given : {}), [META.serverInfo]: { ...serverInfo } };
      return { kind: "result", result: JSON.stringify({ ...result, _meta: meta }) };
    },
  };
}
