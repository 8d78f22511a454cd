import { ToolV2Schema } from "@modelcontextprotocol/ext-tasks/core/v2";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { NO_FINDINGS } from "../../../src/domain/findings.ts";
import { concludeOutcome } from "../../../src/domain/outcome.ts";
import { callToolResult } from "../../../src/mcp/call-result.ts";
import { listTools, mcpTool } from "../../../src/mcp/tools.ts";
import { toolOf } from "../../support/front-desk.ts";
import { freshRecord, jobEnd, RESULT } from "../../support/records.ts";

test("the idempotency key joins the operator's schema, which is left as it is", () => {
  const inputSchema = {
    type: "object",
    properties: { n: { type: "number" } },
    required: ["n"],
    additionalProperties: false,
  };
  const tool = toolOf({ inputSchema, idempotency: "required" });
  const before = structuredClone(inputSchema);
  const listed = mcpTool(tool);
  expect(inputSchema).toEqual(before);
  expect(ToolV2Schema.parse(listed)).toMatchObject({
    name: "run_case",
    inputSchema: {
      properties: { n: {}, idempotencyKey: { maxLength: 256 } },
      required: ["n", "idempotencyKey"],
    },
    execution: { taskSupport: "optional" },
  });
  expect(mcpTool(toolOf({ inputSchema }))["inputSchema"]).toMatchObject({ required: ["n"] });
  expect(mcpTool(toolOf({ title: null }))).not.toHaveProperty("title");
});

test("C12 tools come in the order of their names, whatever the order of definition", () => {
  const tools = ["b", "a", "c"].map((name) => [name, toolOf({ name })] as const);
  const names = (list: typeof tools) => listTools(new Map(list)).map((tool) => tool["name"]);
  expect(names(tools)).toEqual(["a", "b", "c"]);
  expect(names(tools.toReversed())).toEqual(["a", "b", "c"]);
});

test("C15 structuredContent matches the outputSchema, with a result schema that points into itself too", () => {
  const outputSchema = {
    type: "object",
    properties: { drag: { $ref: "#/$defs/number" } },
    required: ["drag"],
    $defs: { number: { type: "number" } },
  };
  const outcome = concludeOutcome(jobEnd(), NO_FINDINGS, false);
  const check = (schema: typeof outputSchema | null, result: typeof RESULT.result) => {
    const artifacts = [{ name: "a", mediaType: "text/plain", bytes: 1, sha256: null }];
    const record = freshRecord({ phase: "ended", outcome, result: { ...RESULT, artifacts, result } });
    const validate = new Ajv2020().compile(
      mcpTool(toolOf({ outputSchema: schema }))["outputSchema"] as object,
    );
    return validate(callToolResult(record)["structuredContent"]);
  };
  expect([check(outputSchema, { drag: 1 }), check(outputSchema, null), check(null, [1])]).toEqual([
    true,
    true,
    true,
  ]);
  expect(check(outputSchema, { drag: "1" })).toBe(false);
});
