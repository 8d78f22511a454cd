import { z } from "zod";
import type { Json, JsonObject } from "../domain/json.ts";
import { didYouMean } from "./did-you-mean.ts";
import { type Path, show } from "./problem.ts";
import type { Report } from "./report.ts";

type Shape = Readonly<Record<string, z.ZodType>>;
/** The members that were right; the others are absent and reported. */
export type Fields<S extends Shape> = { readonly [K in keyof S]?: z.output<S[K]> | undefined };

/**
 * Reads a map member by member, so that one wrong member hides nothing about the others. A member without a value
 * (`tools:` with all its lines commented out) counts as absent.
 */
export function readFields<S extends Shape>(
  schema: z.ZodObject<S>,
  value: Json | undefined,
  { path, report }: { readonly path: Path; readonly report: Report },
): Fields<S> {
  const known = Object.keys(schema.shape);
  if (!isJsonObject(value)) {
    report.problem(path, `must be a map with the keys ${known.join(", ")}`);
    return {};
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) reportUnknown(report, [...path, key], known);
  }
  const fields: [string, unknown][] = [];
  for (const [key, field] of Object.entries(schema.shape)) {
    const member = Object.hasOwn(value, key) ? (value[key] ?? undefined) : undefined;
    const parsed = field.safeParse(member);
    if (parsed.success) fields.push([key, parsed.data]);
    else reportIssues(parsed.error, member, { path: [...path, key], report, schema: field });
  }
  return Object.fromEntries(fields) as Fields<S>;
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Where = { readonly path: Path; readonly report: Report; readonly schema?: z.ZodType };

/** Turns zod's issues about `input` into problems with a place and a sentence of ours. */
export function reportIssues(error: z.ZodError, input: unknown, { path, report, schema }: Where): void {
  for (const issue of error.issues) {
    const inner = issue.path.filter((part) => typeof part !== "symbol");
    const place = [...path, ...inner];
    if (issue.code === "unrecognized_keys") {
      const known = keysAt(schema, inner);
      for (const key of issue.keys) reportUnknown(report, [...place, key], known);
    } else {
      report.problem(place, sentenceOf(issue, valueAt(input, inner), place));
    }
  }
}

function reportUnknown(report: Report, path: Path, known: readonly string[]): void {
  const suggestion = didYouMean(String(path.at(-1)), known);
  const expected = suggestion === "" && known.length > 0 ? `: expected ${known.join(", ")}` : suggestion;
  report.problem(path, `is not a key that is known here${expected}`);
}

function sentenceOf(issue: z.core.$ZodIssue, value: unknown, path: Path): string {
  const got = value === undefined || maySecret(path) ? "" : ` (got ${show(value)})`;
  switch (issue.code) {
    case "invalid_type":
      return value === undefined
        ? `is missing: ${nounOf(issue.expected)} is expected`
        : `must be ${nounOf(issue.expected)}${got}`;
    case "invalid_value": {
      const options = issue.values.map(String);
      const suggestion = typeof value === "string" && got !== "" ? didYouMean(value, options) : "";
      if (value === undefined) return `is missing: expected ${options.join(", ")}`;
      return `must be ${options.length === 1 ? "" : "one of "}${options.join(", ")}${got}${suggestion}`;
    }
    case "too_small":
      return `${limitOf(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum)}${got}`;
    case "too_big":
      return `${limitOf(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum)}${got}`;
    case "invalid_key":
      return issue.issues[0]?.message ?? issue.message;
    case "custom":
      return issue.message;
    case "unrecognized_keys":
    case "invalid_format":
    case "invalid_union":
    case "invalid_element":
    case "not_multiple_of":
      return `${issue.message}${got}`;
  }
}

function limitOf(origin: string, bound: string, limit: number | bigint): string {
  if (origin === "string")
    return bound === "at least" && limit === 1
      ? "must not be empty"
      : `must have ${bound} ${limit} characters`;
  if (origin === "array") return `must have ${bound} ${limit} ${limit === 1 ? "entry" : "entries"}`;
  return `must be ${bound} ${limit}`;
}

const NOUNS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  record: "a map",
};

function nounOf(expected: string): string {
  return NOUNS[expected] ?? expected;
}

/** Values of these fields may be secrets, put there by mistake or on purpose: no message repeats them. */
function maySecret(path: Path): boolean {
  return (
    path[0] === "auth" || (path[0] === "store" && String(path[1]).startsWith("url")) || path.includes("env")
  );
}

function valueAt(input: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, part)
        ? (value as Record<string | number, unknown>)[part]
        : undefined,
    input,
  );
}

/** The keys that the schema knows at a path within it. */
function keysAt(schema: z.ZodType | undefined, path: Path): readonly string[] {
  const inner = unwrap(schema);
  const [first, ...rest] = path;
  if (inner instanceof z.ZodObject) {
    const shape: Shape = inner.shape;
    return first === undefined ? Object.keys(shape) : keysAt(shape[String(first)], rest);
  }
  if (inner instanceof z.ZodArray) return keysAt(inner.element as z.ZodType, rest);
  if (inner instanceof z.ZodRecord) return keysAt(inner.valueType as z.ZodType, rest);
  return [];
}

/** The schema without its `optional`, `default` and `prefault`. */
export function unwrap(schema: z.ZodType | undefined): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return unwrap(schema.unwrap() as z.ZodType);
  }
  return schema;
}
