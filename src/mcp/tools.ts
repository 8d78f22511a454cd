import type { Json, JsonObject } from "../domain/json.ts";
import type { ToolDefinition } from "../domain/tool.ts";
import { KEY_ARGUMENT, MAX_KEY_LENGTH } from "../tasks/key.ts";
import { isObject, META } from "./protocol.ts";

/** The tools/list entry of a definition. The definition itself is left as it is. */
export function mcpTool(tool: ToolDefinition): JsonObject {
  return {
    name: tool.name,
    ...(tool.title === null ? {} : { title: tool.title }),
    description: tool.description,
    inputSchema: withKey(tool),
    outputSchema: outputSchema(tool),
    execution: { taskSupport: tool.tasks },
    // For clients that draw keys: where arguments are the key, a drawn one would make each call a new job.
    _meta: { [META.idempotency]: tool.idempotency },
  };
}

/** In order of name, so that equal configurations give equal lists (C12). */
export function listTools(tools: ReadonlyMap<string, ToolDefinition>): JsonObject[] {
  return [...tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(mcpTool);
}

function withKey(tool: ToolDefinition): JsonObject {
  const { properties, required } = tool.inputSchema;
  const key: Json = {
    type: "string",
    minLength: 1,
    maxLength: MAX_KEY_LENGTH,
    description:
      "Names this job: a retry with the same key and arguments gets the same task and never starts a second job. Use a fresh key for a new job.",
  };
  const isRequired = tool.idempotency === "required";
  const names = [...(Array.isArray(required) ? required : []), ...(isRequired ? [KEY_ARGUMENT] : [])];
  return {
    ...tool.inputSchema,
    type: "object",
    properties: { ...(isObject(properties) ? properties : {}), [KEY_ARGUMENT]: key },
    ...(names.length === 0 ? {} : { required: names }),
  };
}

/** Of structuredContent. The operator's own schema describes `result`, which is null when the job left none. */
function outputSchema(tool: ToolDefinition): JsonObject {
  const nullableInteger: Json = { type: ["integer", "null"] };
  const nullableText: Json = { type: ["string", "null"] };
  return {
    type: "object",
    properties: {
      outcome: {
        type: ["object", "null"],
        description: "What became of the job, and by which evidence.",
        properties: {
          kind: { type: "string" },
          ok: { type: "boolean", description: "Exit code and verdict both say that the job did its work." },
          exitCode: nullableInteger,
          signal: nullableText,
          reason: nullableText,
          verdict: { type: "string", description: "What the solver's output says about the solution." },
          basis: { type: "array", items: { type: "string" } },
          node: nullableText,
          requeues: { type: "integer" },
          billed: { type: "object", properties: { coreSeconds: { type: ["number", "null"] } } },
        },
      },
      metrics: { type: "object" },
      artifacts: {
        type: "array",
        items: {
          type: "object",
          properties: {
            name: { type: "string" },
            uri: { type: "string" },
            mediaType: { type: "string" },
            bytes: { type: "integer" },
            sha256: nullableText,
          },
          required: ["name", "uri"],
        },
      },
      result:
        tool.outputSchema === null
          ? {}
          : { anyOf: [embedded(tool.outputSchema, tool.name), { type: "null" }] },
    },
    required: ["outcome", "metrics", "artifacts", "result"],
  };
}

/** A schema that points into itself keeps its own root below another one only under an id of its own. */
function embedded(schema: JsonObject, tool: string): JsonObject {
  const pointsInside = JSON.stringify(schema).includes('"$ref":"#');
  return pointsInside && schema["$id"] === undefined
    ? { $id: `urn:tailrace:result:${tool}`, ...schema }
    : schema;
}
