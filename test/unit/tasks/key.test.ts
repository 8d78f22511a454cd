import { expect, test } from "vitest";
import { chooseKey } from "../../../src/tasks/key.ts";

const optional = { idempotency: "optional", idempotencyWindowMs: 1000 } as const;
const required = { ...optional, idempotency: "required" } as const;
const byArguments = { ...optional, idempotency: "arguments" } as const;

test("our argument is taken out and the others are left, names that objects inherit too", () => {
  const sent = JSON.parse('{"idempotencyKey":"k","a":1,"constructor":2}');
  const { args, key } = chooseKey(optional, sent, undefined);
  expect(args).toEqual({ a: 1, constructor: 2 });
  expect(key).toEqual({ claimToken: "key:k", markToken: "key:k", isRepeatable: true, windowMs: null });
});

test("a key wins over the arguments' window and is kept for good", () => {
  expect(chooseKey(byArguments, { a: 1 }, "k").key).toMatchObject({ claimToken: "key:k", windowMs: null });
});

test("a key that spells a hash of arguments is not taken for one", () => {
  const { claimToken } = chooseKey(byArguments, { a: 1 }, undefined).key;
  const hash = claimToken.replace("arguments:", "");
  expect(chooseKey(byArguments, { a: 1 }, hash).key.claimToken).not.toBe(claimToken);
});

test("equal arguments claim the same, but each window's job has a mark of its own", () => {
  const one = chooseKey(byArguments, { a: 1, b: 2 }, undefined).key;
  const two = chooseKey(byArguments, { b: 2, a: 1 }, undefined).key;
  expect(two.claimToken).toBe(one.claimToken);
  expect(two.markToken).not.toBe(one.markToken);
  expect(one).toMatchObject({ isRepeatable: true, windowMs: 1000 });
});

test("without a key one is drawn, or it is missing", () => {
  const one = chooseKey(optional, {}, undefined).key;
  expect(one.claimToken).not.toBe(chooseKey(optional, {}, undefined).key.claimToken);
  expect(one.isRepeatable).toBe(false);
  expect(() => chooseKey(required, {}, undefined)).toThrow(/requires an idempotency key/);
});

test.each<[unknown, unknown]>([
  ["", undefined],
  [1, undefined],
  [null, undefined],
  ["x".repeat(257), undefined],
  [undefined, {}],
  ["a", "b"],
])("argument %j with metadata %j is refused", (argument, meta) => {
  const sent = argument === undefined ? {} : { idempotencyKey: argument as string };
  expect(() => chooseKey(required, sent, meta)).toThrow(/Invalid arguments/);
});
