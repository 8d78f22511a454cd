import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { Json, JsonObject } from "../domain/json.ts";
import { didYouMean } from "./did-you-mean.ts";
import { isJsonObject } from "./fields.ts";
import { type Path, show } from "./problem.ts";

/** What is wrong with a schema; the path leads from the schema's root. */
export type SchemaFault = { readonly path: Path; readonly message: string };

export type Compiled = {
  /** Stops at the first error and fills defaults into the value itself. */
  readonly validate: ValidateFunction;
  /** The same with every error: for values of a size at which a list of all errors does no harm. */
  readonly explain: () => ValidateFunction;
};

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** Checks schemas and compiles them; each with an instance of its own would load the dialect again and again. */
export function createSchemaCompiler() {
  const first = createAjv(false);
  const all = createAjv(true);
  return (schema: JsonObject): Compiled | { readonly faults: readonly SchemaFault[] } => {
    const faults: SchemaFault[] = [];
    findFaults(schema, { path: [], faults, ajv: first });
    if (faults.length > 0) return { faults };
    if (!first.validateSchema(schema)) return { faults: [metaFault(first.errors ?? [])] };
    try {
      const validate = first.compile(schema);
      let explain: ValidateFunction | null = null;
      return {
        validate,
        explain: () => {
          explain ??= all.compile(schema);
          return explain;
        },
      };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { faults: [{ path: [], message: `is not a usable JSON Schema: ${message}` }] };
    }
  };
}
export type SchemaCompiler = ReturnType<typeof createSchemaCompiler>;

function createAjv(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors,
    verbose: true,
    strictSchema: true,
    strictNumbers: true,
    strictTypes: false,
    strictTuples: false,
    // Names such as "constructor" are members only when the caller sent them.
    ownProperties: true,
    useDefaults: true,
    // Two tools may use the same $id.
    addUsedSchema: false,
    logger: false,
  });
  formats.default(ajv);
  return ajv;
}

const ONE_SCHEMA = new Set(
  "items additionalProperties contains propertyNames not if then else unevaluatedItems unevaluatedProperties".split(
    " ",
  ),
);
const SCHEMA_LISTS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const SCHEMA_MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"];

type Search = {
  readonly path: Path;
  readonly faults: SchemaFault[];
  readonly ajv: Ajv2020;
};

/** The mistakes for which ajv's own message would give no place, or that it would let pass. */
function findFaults(schema: Json, search: Search): void {
  if (typeof schema === "boolean") return;
  const { path, faults } = search;
  if (!isJsonObject(schema)) {
    faults.push({ path, message: `must be a schema, like { type: number } (got ${show(schema)})` });
    return;
  }
  for (const [keyword, value] of Object.entries(schema)) {
    const message = keywordFault(keyword, value, search);
    if (message !== null) faults.push({ path: [...path, keyword], message });
    else findInside(keyword, value, { ...search, path: [...path, keyword] });
  }
}

function keywordFault(keyword: string, value: Json, { path, ajv }: Search): string | null {
  if (keyword === "$ref" || keyword === "$dynamicRef") {
    return typeof value === "string" && value.startsWith("#")
      ? null
      : `points outside of this schema (${show(value)}): only #/$defs/… and the like are followed`;
  }
  if (keyword === "$schema") {
    return value === DIALECT && path.length === 0
      ? null
      : `must be ${DIALECT}, at the top only: schemas here are JSON Schema 2020-12`;
  }
  if (keyword === "type") {
    const types = Array.isArray(value) ? value : [value];
    const wrong = types.find((type) => typeof type !== "string" || !TYPES.includes(type));
    if (wrong === undefined) return null;
    const suggestion = typeof wrong === "string" ? didYouMean(wrong, TYPES) : "";
    return `must be one of ${TYPES.join(", ")} (got ${show(wrong)})${suggestion}`;
  }
  const pattern = keyword === "pattern" ? [value] : keyword === "patternProperties" ? keysOf(value) : [];
  const wrong = pattern.find((text) => typeof text === "string" && !isRegExp(text));
  if (wrong !== undefined) return `is not a regular expression: ${show(wrong)}`;
  if (keyword === "format" && typeof value === "string" && !Object.hasOwn(ajv.formats, value))
    return `there is no format ${show(value)}${didYouMean(value, Object.keys(ajv.formats))}`;
  if (keyword === "$async" || !Object.hasOwn(ajv.RULES.keywords, keyword))
    return `is not a keyword of JSON Schema 2020-12${didYouMean(keyword, KEYWORDS)}`;
  return null;
}

function keysOf(value: Json): string[] {
  return isJsonObject(value) ? Object.keys(value) : [];
}

function isRegExp(text: string): boolean {
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    // The only way to ask: there is no test that does not throw.
    return false;
  }
}

const KEYWORDS = [
  ...[...ONE_SCHEMA, ...SCHEMA_LISTS, ...SCHEMA_MAPS],
  ..."type enum const default title description format pattern required minimum maximum exclusiveMinimum".split(
    " ",
  ),
  ..."exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems minProperties".split(" "),
  ..."maxProperties examples deprecated dependentRequired minContains maxContains".split(" "),
];

function findInside(keyword: string, value: Json, search: Search): void {
  const { path, faults } = search;
  if (ONE_SCHEMA.has(keyword)) findFaults(value, search);
  else if (SCHEMA_LISTS.has(keyword) && Array.isArray(value)) {
    for (const [index, item] of value.entries()) findFaults(item, { ...search, path: [...path, index] });
  } else if (SCHEMA_MAPS.has(keyword) && isJsonObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      // Every JavaScript object seems to have these, so a default for one would never be filled in.
      if (keyword === "properties" && name in {})
        faults.push({
          path: [...path, name],
          message: "is a name with a meaning of its own in JavaScript: take another",
        });
      findFaults(item, { ...search, path: [...path, name] });
    }
  }
}

/** Of the errors about a schema, the one that goes deepest says most. */
function metaFault(errors: readonly ErrorObject[]): SchemaFault {
  const faults = errors.map((error) => ({
    path: pointerPath(error.instancePath),
    message: `is not right for JSON Schema 2020-12: ${error.message ?? error.keyword} (got ${show(error.data)})`,
  }));
  faults.sort((a, b) => b.path.length - a.path.length);
  return faults[0] ?? { path: [], message: "is not a JSON Schema" };
}

/** The parts of a JSON pointer (RFC 6901). */
export function pointerPath(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}
