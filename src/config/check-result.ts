import type { Json, JsonObject } from "../domain/json.ts";
import { createSchemaCompiler, pointerPath } from "./json-schema.ts";
import { fieldName } from "./problem.ts";

/** Why a job's result does not fit its tool's output schema, in words; null when it does. */
export type CheckResult = (schema: JsonObject, result: Json) => string | null;

export function createResultCheck(): CheckResult {
  return (schema, result) => {
    // An instance of its own: ajv keeps every schema it has seen, and tasks bring theirs along.
    const compiled = createSchemaCompiler()(schema);
    if ("faults" in compiled)
      return `the tool's output schema is not usable: ${compiled.faults[0]?.message ?? ""}`;
    if (compiled.validate(structuredClone(result))) return null;
    const [error] = compiled.validate.errors ?? [];
    const parts = pointerPath(error?.instancePath ?? "").map((part) => part.slice(0, 80));
    const place = parts.length === 0 ? "" : ` at ${fieldName(parts)}`;
    return `result.json does not fit the tool's output schema${place}: ${error?.message ?? "no reason given"}`;
  };
}
