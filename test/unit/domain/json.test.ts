import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, Json } from "../../../src/domain/json.ts";

const values = fc.jsonValue({ maxDepth: 4 }).map((value): Json => JSON.parse(JSON.stringify(value)));

function backwards(value: Json): Json {
  if (Array.isArray(value)) return value.map(backwards);
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value).reverse();
  return Object.fromEntries(members.map(([key, member]) => [key, backwards(member)]));
}

test("canonical text reads back as the same value, and as canonical text again", () => {
  const check = fc.property(values, (value) => {
    const text = canonicalJson(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(canonicalJson(JSON.parse(text))).toBe(text);
  });
  fc.assert(check, { numRuns: 1_000 });
});

test("canonical text does not depend on the order of keys, at any depth", () => {
  const check = fc.property(values, (value) => {
    expect(canonicalJson(backwards(value))).toBe(canonicalJson(value));
  });
  fc.assert(check, { numRuns: 1_000 });
});

test("a member named __proto__ is a member like others", () => {
  expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":2}}'))).toBe('{"__proto__":{"a":2},"b":1}');
});

test("only JSON passes for JSON", () => {
  for (const value of [
    undefined,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    () => 1,
    [undefined],
    { a: undefined },
  ]) {
    expect(Json.safeParse(value).success).toBe(false);
  }
});
