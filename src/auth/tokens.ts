import { createHash, timingSafeEqual } from "node:crypto";
import type { AuthAnswer, Authenticate, Principal } from "../domain/principal.ts";

/** A static token at rest: the name that becomes the caller's, and the sha256 of the token, hex. */
export type NamedToken = { readonly name: string; readonly sha256: string };

const REALM = 'Bearer realm="tailrace"';

/** The owner that records carry: 128 bits of the name's hash, so that names do not end up in keys. */
export function createPrincipal(name: string): Principal {
  return { id: sha256(`principal:${name}`).toString("hex").slice(0, 32), name };
}

export function tokenHash(token: string): string {
  return sha256(token).toString("hex");
}

/** Bearer tokens. Every hash is compared, in constant time, whichever one fits. Throws on a hash that is none. */
export function authenticateTokens(tokens: readonly NamedToken[]): Authenticate {
  const known = tokens.map(({ name, sha256: hex }) => {
    if (!/^[0-9a-f]{64}$/i.test(hex))
      throw new Error(`The hash of token "${name}" is not 64 hexadecimal digits.`);
    return { principal: createPrincipal(name), hash: Buffer.from(hex, "hex") };
  });
  return (authorization) => {
    const token = bearerToken(authorization);
    if (token === null) return refused(REALM, "Send a bearer token in the Authorization header.");
    const hash = sha256(token);
    let found: Principal | null = null;
    for (const candidate of known) {
      if (timingSafeEqual(candidate.hash, hash)) found ??= candidate.principal;
    }
    if (found !== null) return { kind: "known", principal: found };
    return refused(`${REALM}, error="invalid_token"`, "The bearer token is not known here.");
  };
}

/** `auth: none`: all callers are one, and share keys and tasks. */
export function authenticateNobody(): Authenticate {
  const answer: AuthAnswer = { kind: "known", principal: createPrincipal("anonymous") };
  return () => answer;
}

function bearerToken(authorization: string | null): string | null {
  return /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization ?? "")?.[1] ?? null;
}

function refused(challenge: string, message: string): AuthAnswer {
  return { kind: "refused", challenge, message };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
