import { expect, test } from "vitest";
import {
  authenticateNobody,
  authenticateTokens,
  createPrincipal,
  tokenHash,
} from "../../../src/auth/tokens.ts";

const authenticate = authenticateTokens([
  { name: "ci", sha256: tokenHash("secret-1") },
  { name: "lab", sha256: tokenHash("secret-2").toUpperCase() },
]);

test("a known token is its name's principal, on every replica the same", () => {
  expect(authenticate("Bearer secret-1")).toEqual({ kind: "known", principal: createPrincipal("ci") });
  expect(authenticate("bearer  secret-2")).toMatchObject({ principal: { name: "lab" } });
  expect(createPrincipal("ci").id).toMatch(/^[0-9a-f]{32}$/);
  expect(createPrincipal("ci").id).not.toBe(createPrincipal("lab").id);
});

test("the principal is bound to the name, so a token can be changed without losing tasks", () => {
  const renewed = authenticateTokens([{ name: "ci", sha256: tokenHash("other") }]);
  expect(renewed("Bearer other")).toEqual(authenticate("Bearer secret-1"));
});

test.each([
  null,
  "",
  "Bearer",
  "Bearer ",
  "Basic secret-1",
  "secret-1",
  "Bearer secret-1 x",
  "Bearer secrét",
])("%j carries no bearer token, and the challenge names the scheme", (header) => {
  expect(authenticate(header)).toMatchObject({ kind: "refused", challenge: 'Bearer realm="tailrace"' });
});

test("an unknown token is refused as invalid", () => {
  const answer = authenticate("Bearer secret-3");
  expect(answer).toMatchObject({
    kind: "refused",
    challenge: expect.stringContaining('error="invalid_token"'),
  });
  expect(authenticateTokens([])("Bearer x")).toMatchObject({ kind: "refused" });
});

test("a hash that is none stops the start and names the token", () => {
  expect(() => authenticateTokens([{ name: "ci", sha256: "secret" }])).toThrow(/"ci"/);
});

test("without authentication all callers are one", () => {
  expect(authenticateNobody()(null)).toEqual({ kind: "known", principal: createPrincipal("anonymous") });
});
