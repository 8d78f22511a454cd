import type { ErrorObject } from "ajv/dist/2020.js";
import type { JsonObject } from "../domain/json.ts";
import type { ToolDefinition } from "../domain/tool.ts";
import { didYouMean } from "./did-you-mean.ts";
import { type Compiled, pointerPath } from "./json-schema.ts";
import { fieldName, show } from "./problem.ts";

const MAX_DEPTH = 64;
/** Above this many values only the first error is told: a list of all errors can be far larger than its cause. */
const MAX_EXPLAINED = 2000;
const MAX_PROBLEMS = 20;

/**
 * Checks arguments against a tool's compiled schema. Defaults go into a copy; nothing is coerced. `names`: the
 * properties, for suggestions.
 */
export function createArgumentCheck(
  compiled: Compiled,
  names: readonly string[],
): ToolDefinition["checkArguments"] {
  return (sent) => {
    const size = measure(sent);
    if (size === "deep") return { problems: [`the arguments are nested more than ${MAX_DEPTH} deep`] };
    const args = structuredClone(sent);
    if (compiled.validate(args)) return { args };
    if (size === "large") return { problems: tell(compiled.validate.errors ?? [], names) };
    const explain = compiled.explain();
    explain(structuredClone(sent));
    return { problems: tell(explain.errors ?? [], names) };
  };
}

/** Without recursion: whoever sends 100,000 brackets must not run us out of stack. */
function measure(value: unknown): "small" | "large" | "deep" {
  let level: unknown[] = [value];
  let count = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return "deep";
    count += level.length;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return count > MAX_EXPLAINED ? "large" : "small";
}

function tell(errors: readonly ErrorObject[], names: readonly string[]): string[] {
  // `if` only repeats what the branch that failed has said.
  const sentences = [
    ...new Set(errors.filter((error) => error.keyword !== "if").map((error) => sentenceOf(error, names))),
  ];
  const more = sentences.length - MAX_PROBLEMS;
  return more > 0 ? [...sentences.slice(0, MAX_PROBLEMS), `and ${more} more`] : sentences;
}

type Params = Readonly<Record<string, unknown>>;

function sentenceOf(
  { keyword, instancePath, params, data, message }: ErrorObject,
  names: readonly string[],
): string {
  const parts = pointerPath(instancePath);
  const given: Params = params;
  const missing = given["missingProperty"];
  if (typeof missing === "string") return `${nameOf([...parts, missing])}: is missing`;
  const unknown = given["additionalProperty"] ?? given["unevaluatedProperty"];
  if (typeof unknown === "string") {
    const suggestion = parts.length === 0 ? didYouMean(unknown, names) : "";
    return `${nameOf([...parts, unknown])}: is not known to this tool${suggestion}`;
  }
  const allowed = given["allowedValues"];
  const rule =
    keyword === "enum" && Array.isArray(allowed)
      ? `must be one of ${allowed.map((value) => show(value)).join(", ")}`
      : keyword === "const"
        ? `must be ${show(given["allowedValue"])}`
        : (message ?? keyword);
  return `${nameOf(parts)}: ${rule} (got ${show(data)})`;
}

function nameOf(parts: readonly string[]): string {
  if (parts.length === 0) return "the arguments";
  return fieldName(parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part.slice(0, 80))));
}

/** Defaults that the schema itself would refuse, by argument; for the check at load. */
export function defaultProblems(compiled: Compiled): readonly { name: string; message: string }[] {
  const filled: JsonObject = {};
  const explain = compiled.explain();
  explain(filled);
  return (explain.errors ?? []).flatMap((error) => {
    const [name] = pointerPath(error.instancePath);
    return name === undefined
      ? []
      : [{ name, message: `${error.message ?? error.keyword} (got ${show(error.data)})` }];
  });
}
