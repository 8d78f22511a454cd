import { randomUUID } from "node:crypto";
import { z } from "zod";
import { JsonObject } from "../../domain/json.ts";
import { META } from "../../mcp/protocol.ts";
import { KEY_ARGUMENT, KEY_META } from "../../tasks/key.ts";
import { EXIT } from "../exit-codes.ts";
import { CliFailure } from "../failure.ts";
import { Refused } from "./faults.ts";
import type { McpClient } from "./mcp-client.ts";
import type { Patience } from "./patience.ts";

export type Tool = {
  readonly name: string;
  readonly inputSchema: JsonObject;
  readonly dedupesArguments: boolean;
};

const Tools = z.object({
  tools: z.array(z.object({ name: z.string(), inputSchema: JsonObject, _meta: JsonObject.optional() })),
});

/** The tool's entry in tools/list; throws with the tools that there are. */
export async function findTool(client: McpClient, name: string, signal: AbortSignal): Promise<Tool> {
  const { tools } = Tools.parse(await client.request("tools/list", {}, { signal }));
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) {
    const known = tools.map((one) => one.name).join(", ");
    throw new Refused(`there is no tool ${JSON.stringify(name)}: the server has ${known || "none"}`, null);
  }
  const { inputSchema, _meta } = tool;
  return { name, inputSchema, dedupesArguments: _meta?.[META.idempotency] === "arguments" };
}

export type CreateRequest = {
  readonly tool: Tool;
  readonly args: JsonObject;
  /** As the caller gave it, or null. */
  readonly key: string | null;
};

export type Handle = {
  readonly taskId: string;
  /** The key that finds this task again; null when its arguments do. */
  readonly key: string | null;
  readonly isExisting: boolean;
  /** The whole CreateTaskResult. */
  readonly task: JsonObject;
};

const CreateTaskResult = z.object({
  resultType: z.literal("task"),
  taskId: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
  _meta: JsonObject.optional(),
});

/**
 * Makes the task, once: a create whose answer was lost is sent again with the same key, which finds what it made. Where
 * the caller gave no key, one is drawn.
 */
export async function createTask(
  client: McpClient,
  request: CreateRequest,
  { patience, signal }: { readonly patience: Patience; readonly signal: AbortSignal },
): Promise<Handle> {
  const { tool, args } = request;
  const inArguments = args[KEY_ARGUMENT];
  const key =
    typeof inArguments === "string"
      ? inArguments
      : (request.key ?? (tool.dedupesArguments ? null : randomUUID()));
  const meta: JsonObject = key === null || typeof inArguments === "string" ? {} : { [KEY_META]: key };
  try {
    const task = await patience.insist(() =>
      client.request("tools/call", { name: tool.name, arguments: args }, { signal, meta }),
    );
    const { taskId, _meta } = CreateTaskResult.parse(task);
    return { taskId, key, isExisting: _meta?.[META.existing] === true, task };
  } catch (error) {
    if (error instanceof z.ZodError) throw new Refused("the server answered the call without a task", null);
    if (key === null || !(error instanceof CliFailure) || error.exitCode !== EXIT.unreachable) throw error;
    const advice = `The task may have been made all the same: the same call with --key ${key} finds it.`;
    throw new CliFailure(`${error.message}\n${advice}`, EXIT.unreachable, { cause: error });
  }
}
