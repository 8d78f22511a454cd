import type { Json, JsonObject } from "../domain/json.ts";
import type { ToolDefinition } from "../domain/tool.ts";
import { envName } from "../tasks/arguments.ts";
import { KEY_ARGUMENT } from "../tasks/key.ts";
import { createArgumentCheck, defaultProblems } from "./check-arguments.ts";
import { isJsonObject } from "./fields.ts";
import type { Compiled, SchemaCompiler } from "./json-schema.ts";
import type { Path } from "./problem.ts";
import type { Report } from "./report.ts";

export type Input = {
  readonly schema: JsonObject;
  readonly check: ToolDefinition["checkArguments"];
  /** The schema of each argument. */
  readonly properties: JsonObject;
};

type Where = { readonly path: Path; readonly report: Report; readonly compile: SchemaCompiler };
type Given = { readonly input?: JsonObject | undefined; readonly inputSchema?: JsonObject | undefined };

/**
 * The arguments of a tool: `input` names them one by one, `inputSchema` is a whole schema. null, and reported, when
 * they cannot be used; `path` is the tool's.
 */
export function readInput({ input, inputSchema }: Given, { path, report, compile }: Where): Input | null {
  if (input !== undefined && inputSchema !== undefined) {
    report.problem([...path, "inputSchema"], "there is input already: give one of the two");
    return null;
  }
  const isWhole = inputSchema !== undefined;
  const root = [...path, isWhole ? "inputSchema" : "input"];
  const schema = isWhole ? wholeSchema(inputSchema, root, report) : schemaOf(input ?? {}, root, report);
  if (schema === null) return null;
  const placeOf = (inner: Path): Path => [...root, ...(isWhole ? inner : inner.slice(1))];
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const areNamesFine = checkNames(Object.keys(properties), (name) => placeOf(["properties", name]), report);
  const compiled = compile(schema);
  if ("faults" in compiled) {
    for (const fault of compiled.faults) report.problem(placeOf(fault.path), fault.message);
    return null;
  }
  const areDefaultsFine = checkDefaults(compiled, placeOf, report);
  if (!areNamesFine || !areDefaultsFine) return null;
  return { schema, properties, check: createArgumentCheck(compiled, Object.keys(properties)) };
}

function wholeSchema(schema: JsonObject, path: Path, report: Report): JsonObject | null {
  const { type = "object" } = schema;
  if (type === "object") return { ...schema, type };
  report.problem([...path, "type"], "must be object: arguments have names");
  return null;
}

/** The short form: a property is required unless it has a default or says `optional: true`; no others are taken. */
function schemaOf(input: JsonObject, path: Path, report: Report): JsonObject | null {
  if (typeof input["type"] === "string" && isJsonObject(input["properties"])) {
    report.problem(
      path,
      "looks like a whole JSON Schema: put it under inputSchema, or only its properties here",
    );
    return null;
  }
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const [name, short] of Object.entries(input)) {
    if (!isJsonObject(short)) {
      properties[name] = short;
      continue;
    }
    const { optional, ...schema } = short;
    if (optional !== undefined && typeof optional !== "boolean")
      report.problem([...path, name, "optional"], "must be true or false");
    if (typeof schema["required"] === "boolean") {
      report.problem(
        [...path, name, "required"],
        "is not needed: an argument is required unless it has a default or says optional: true",
      );
      delete schema["required"];
    }
    properties[name] = schema;
    if (optional !== true && schema["default"] === undefined) required.push(name);
  }
  return {
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function checkNames(names: readonly string[], placeOf: (name: string) => Path, report: Report): boolean {
  const takenBy = new Map<string, string>();
  let isFine = true;
  const complain = (name: string, message: string) => {
    report.problem(placeOf(name), message);
    isFine = false;
  };
  for (const name of names) {
    const variable = envName(name);
    const other = takenBy.get(variable);
    if (name === "") complain(name, "an argument needs a name");
    else if (name === KEY_ARGUMENT)
      complain(name, "this argument is added by Tailrace itself: choose another name");
    else if (other !== undefined)
      complain(name, `${name} and ${other} would both be the environment variable ${variable}: rename one`);
    takenBy.set(variable, name);
  }
  return isFine;
}

function checkDefaults(compiled: Compiled, placeOf: (path: Path) => Path, report: Report): boolean {
  const problems = defaultProblems(compiled);
  for (const { name, message } of problems)
    report.problem(placeOf(["properties", name, "default"]), `does not fit its own schema: ${message}`);
  return problems.length === 0;
}

/** True when every value that the schema lets through is a number. */
export function isNumeric(schema: Json | undefined): boolean {
  const type = isJsonObject(schema) ? schema["type"] : undefined;
  return type === "number" || type === "integer";
}
