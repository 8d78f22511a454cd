import { type Json, JsonObject } from "../../domain/json.ts";
import { EXIT } from "../exit-codes.ts";
import { CliFailure } from "../failure.ts";

/** `name=value` pairs beside whole arguments as JSON text; a pair wins over the member of the same name. */
export type GivenArguments = { readonly pairs: readonly string[]; readonly json: string | null };

/**
 * The arguments of a call. The tool's schema says how the text of a pair is read: as it is where text is asked for, as
 * JSON where something else is. Throws with every pair that does not fit; the server checks the rest.
 */
export function parseArguments(given: GivenArguments, inputSchema: JsonObject): JsonObject {
  const args: JsonObject = given.json === null ? {} : parseWhole(given.json);
  const problems: string[] = [];
  const properties = objectOf(inputSchema["properties"]);
  for (const pair of given.pairs) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at);
    if (at < 1) {
      problems.push(`--arg ${JSON.stringify(pair)}: expected name=value`);
      continue;
    }
    const value = parseValue(
      pair.slice(at + 1),
      typesOf(Object.hasOwn(properties, name) ? properties[name] : null),
    );
    if (value === undefined) problems.push(`--arg ${name}: ${expectation(properties[name])}`);
    else Object.defineProperty(args, name, { value, enumerable: true, configurable: true, writable: true });
  }
  if (problems.length > 0) throw new CliFailure(problems.join("\n"), EXIT.usage);
  return args;
}

/** Undefined: the text is none of the types. An empty list of types: anything goes. */
function parseValue(text: string, types: readonly string[]): Json | undefined {
  const takesText = types.length === 0 || types.includes("string");
  if (takesText && types.length === 1) return text;
  const value = parseJson(text);
  const fits = value !== undefined && (types.length === 0 || types.some((type) => isOfType(value, type)));
  if (fits) return value;
  return takesText ? text : undefined;
}

function isOfType(value: Json, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function typesOf(schema: Json | undefined): readonly string[] {
  const { type, ...rest } = objectOf(schema);
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === "string");
  const values = Array.isArray(rest["enum"]) ? rest["enum"] : "const" in rest ? [rest["const"]] : [];
  const isText = values.length > 0 && values.every((value) => typeof value === "string");
  return isText ? ["string"] : [];
}

function expectation(schema: Json | undefined): string {
  return `expected ${typesOf(schema).join(" or ")}, as JSON`;
}

function parseWhole(text: string): JsonObject {
  const value = JsonObject.safeParse(parseJson(text));
  if (value.success) return value.data;
  throw new CliFailure("--args-json: expected a JSON object", EXIT.usage);
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // no JSON: for the caller to say what was expected instead
  }
}

function objectOf(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
