import type { z } from "zod";
import { TailraceError } from "../domain/errors.ts";

/** A Lua table of strings and numbers as texts; false or nil inside becomes null. Null when the script said false. */
export function replyRow(reply: unknown): (string | null)[] | null {
  if (!Array.isArray(reply)) return null;
  return reply.map((item: unknown) => (item === null || item === undefined ? null : String(item)));
}

/** A field that every stored task has. */
export function required(value: string | null | undefined, field: string): string {
  if (value === null || value === undefined) throw damaged(`a task has no ${field}`);
  return value;
}

export function requiredNumber(value: string | null | undefined, field: string): number {
  const number = Number(required(value, field));
  if (!Number.isFinite(number)) throw damaged(`a task's ${field} is not a number`);
  return number;
}

/** Stored JSON is a value from outside: another version, or another program, may have written it. */
export function parseStored<T>(schema: z.ZodType<T>, text: string, what: string): T {
  const parsed = schema.safeParse(parseJson(text, what));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw damaged(`a stored ${what} does not fit this version: ${issue?.path.join(".")}: ${issue?.message}`);
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw damaged(`a stored ${what} is no JSON`, cause);
  }
}

/** A reply word that must be one of ours. */
export function oneOf<const T extends string>(reply: unknown, words: readonly T[]): T {
  const word = words.find((one) => one === reply);
  if (word === undefined) throw damaged(`a script answered ${JSON.stringify(reply)}`);
  return word;
}

function damaged(what: string, cause?: unknown): TailraceError {
  const message = `the store cannot be understood: ${what}. Was it written by another version of tailrace?`;
  return new TailraceError("store_mismatch", message, { cause });
}
