import fc from "fast-check";
import { expect, test } from "vitest";
import { argsHash, claimOf, drawToken, isTaskId, markOf, newTaskId } from "../../../src/tasks/identity.ts";

const CLAIMANT = { owner: "o", tool: "t", token: "k" };

test("task ids are 192 random bits, never twice, and recognised; anything else is not", () => {
  const ids = new Set(Array.from({ length: 1000 }, newTaskId));
  expect(ids.size).toBe(1000);
  for (const id of ids) expect([isTaskId(id), id.length]).toEqual([true, 34]);
  for (const text of [
    "",
    "t_",
    "t_short",
    "{tr}:t:x",
    `t_${"a".repeat(65)}`,
    "t_aaaaaaaaaaaaaaaaaaaaaa\n",
    "meta",
  ]) {
    expect(isTaskId(text)).toBe(false);
  }
  expect(drawToken()).not.toBe(drawToken());
});

test("a mark is the instance and 26 base32 characters, the same for the same caller, tool and token", () => {
  expect(markOf("prod", CLAIMANT)).toMatch(/^tr-prod-[a-z2-7]{26}$/);
  expect(markOf("prod", { ...CLAIMANT, token: "k2" })).not.toBe(markOf("prod", CLAIMANT));
  expect(markOf("test", CLAIMANT).slice(-26)).not.toBe(markOf("prod", CLAIMANT).slice(-26));
});

test("claims do not run together where the parts of one meet", () => {
  expect(claimOf(CLAIMANT)).toMatch(/^[0-9a-f]{64}$/);
  expect(claimOf({ owner: "a", tool: "bc", token: "d" })).not.toBe(
    claimOf({ owner: "ab", tool: "c", token: "d" }),
  );
  expect(claimOf({ owner: 'a","b', tool: "c", token: "d" })).not.toBe(
    claimOf({ owner: "a", tool: "b", token: "c" }),
  );
});

test("arguments hash the same in any order of members, and differently for different values", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const args = JSON.parse(JSON.stringify(value));
      const turned = Object.fromEntries(Object.entries(args).reverse());
      return argsHash(args) === argsHash(JSON.parse(JSON.stringify(turned)));
    }),
  );
  expect(argsHash({ a: 1 })).not.toBe(argsHash({ a: "1" }));
});
