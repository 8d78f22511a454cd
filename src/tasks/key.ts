import { TailraceError } from "../domain/errors.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import type { ToolDefinition } from "../domain/tool.ts";
import { invalidArguments } from "./arguments.ts";
import { argsHash, drawToken } from "./identity.ts";

/** The argument that we add to every tool's schema. */
export const KEY_ARGUMENT = "idempotencyKey";
/** The member of a request's `_meta` that says the same. */
export const KEY_META = "dev.tailrace/idempotencyKey";
export const MAX_KEY_LENGTH = 256;

export type ChosenKey = {
  /** What the claim is made of. */
  readonly claimToken: string;
  /** What the job's mark is made of. */
  readonly markToken: string;
  /** Sending the same call again finds the same task. */
  readonly isRepeatable: boolean;
  readonly windowMs: number | null;
};

/**
 * The token of a call and its arguments without ours. Throws `key_missing` where the tool requires a key, and
 * `invalid_arguments` for one that is no string of 1–256 characters, or that argument and metadata disagree about.
 */
export function chooseKey(
  tool: Pick<ToolDefinition, "idempotency" | "idempotencyWindowMs">,
  sent: JsonObject,
  metaKey: unknown,
): { readonly key: ChosenKey; readonly args: JsonObject } {
  const { [KEY_ARGUMENT]: argumentKey, ...args } = sent;
  const key = agreedKey(argumentKey, metaKey);
  if (key !== null) return { args, key: repeatable(`key:${key}`) };
  if (tool.idempotency === "required") {
    throw new TailraceError(
      "key_missing",
      `This tool requires an idempotency key: give a fresh ${KEY_ARGUMENT} (1–${MAX_KEY_LENGTH} characters) for a new job, and the same one to retry.`,
    );
  }
  const drawn = `drawn:${drawToken()}`;
  if (tool.idempotency === "optional") {
    return { args, key: { claimToken: drawn, markToken: drawn, isRepeatable: false, windowMs: null } };
  }
  // The claim comes round again with each window, but the scheduler knows one job per mark: that one is drawn.
  const claimToken = `arguments:${argsHash(args)}`;
  return {
    args,
    key: { claimToken, markToken: drawn, isRepeatable: true, windowMs: tool.idempotencyWindowMs },
  };
}

function repeatable(token: string): ChosenKey {
  return { claimToken: token, markToken: token, isRepeatable: true, windowMs: null };
}

function agreedKey(argumentKey: Json | undefined, metaKey: unknown): string | null {
  const fromArgument = checkedKey(argumentKey, KEY_ARGUMENT);
  const fromMeta = checkedKey(metaKey, `_meta["${KEY_META}"]`);
  if (fromArgument !== null && fromMeta !== null && fromArgument !== fromMeta) {
    throw invalidArguments([`${KEY_ARGUMENT} and _meta["${KEY_META}"] are both given and differ`]);
  }
  return fromArgument ?? fromMeta;
}

function checkedKey(value: unknown, where: string): string | null {
  if (value === undefined) return null;
  if (typeof value !== "string" || value.length === 0 || value.length > MAX_KEY_LENGTH) {
    throw invalidArguments([`${where} must be a string of 1–${MAX_KEY_LENGTH} characters`]);
  }
  return value;
}
