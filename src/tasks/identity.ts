import { createHash, randomBytes } from "node:crypto";
import { canonicalJson, type JsonObject } from "../domain/json.ts";

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
const MARK_CHARACTERS = 26;

/** What a caller's token is bound to: the same token of another caller or tool is another token. */
export type Claimant = { readonly owner: string; readonly tool: string; readonly token: string };

/** "t_" and 192 random bits in base64url: a task id is a credential. */
export function newTaskId(): string {
  return `t_${randomBytes(24).toString("base64url")}`;
}

/** Anything else is no task of ours and is not looked up. */
export function isTaskId(text: string): boolean {
  return /^t_[A-Za-z0-9_-]{16,64}$/.test(text);
}

/** A token for a call that brought none: 256 random bits, hex. */
export function drawToken(): string {
  return randomBytes(32).toString("hex");
}

/** sha256 hex under which the store keeps the claim of a token. */
export function claimOf({ owner, tool, token }: Claimant): string {
  return sha256(JSON.stringify([owner, tool, token])).toString("hex");
}

/** The job's name at its scheduler: `tr-<instance>-` and 26 lower-case base32 characters (130 bits). */
export function markOf(instance: string, { owner, tool, token }: Claimant): string {
  const digest = sha256(JSON.stringify([instance, owner, tool, token]));
  return `tr-${instance}-${base32(digest).slice(0, MARK_CHARACTERS)}`;
}

/** sha256 hex of the arguments, equal for equal values in any order of members. */
export function argsHash(args: JsonObject): string {
  return sha256(canonicalJson(args)).toString("hex");
}

export function scriptHash(text: string): string {
  return sha256(text).toString("hex");
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}

function base32(bytes: Buffer): string {
  let bits = 0;
  let held = 0;
  let text = "";
  for (const byte of bytes) {
    bits = (bits << 8) | byte;
    held += 8;
    while (held >= 5) {
      held -= 5;
      text += BASE32[(bits >> held) & 31] ?? "";
      bits &= (1 << held) - 1;
    }
  }
  return text;
}
