import { MAX_PAYLOAD_BYTES } from "../../src/domain/event.ts";
import type { Json, JsonObject } from "../../src/domain/json.ts";

/** Room for what is added to a payload afterwards: count and range. */
const MARGIN_BYTES = 512;
const LIMIT_BYTES = MAX_PAYLOAD_BYTES - MARGIN_BYTES;

/** Strings are cut to this many characters, lists and objects to an eighth as many members, until the whole fits. */
const CUTS = [2048, 512, 128, 32];

/** The payload itself when it is small enough; else a smaller one that says `truncated: true`. */
export function fitPayload(payload: JsonObject): JsonObject {
  if (mostBytes(payload) <= LIMIT_BYTES || bytesOf(payload) <= LIMIT_BYTES) return payload;
  for (const cut of CUTS) {
    const smaller = { ...objectCut(payload, cut, 0), truncated: true };
    if (bytesOf(smaller) <= LIMIT_BYTES) return smaller;
  }
  return { truncated: true };
}

/** An upper bound of a value's JSON text in bytes, without making it. */
function mostBytes(value: Json): number {
  if (typeof value === "string") return 6 * value.length + 3;
  if (value === null || typeof value !== "object") return 25;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const item of value) bytes += mostBytes(item);
    return bytes;
  }
  for (const name in value) bytes += 6 * name.length + 4 + mostBytes(value[name] ?? null);
  return bytes;
}

function bytesOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}

const DEEPEST = 6;

function cutTo(value: Json, cut: number, depth: number): Json {
  if (typeof value === "string") return value.slice(0, cut);
  if (value === null || typeof value !== "object") return value;
  if (depth >= DEEPEST) return null;
  if (Array.isArray(value)) return value.slice(0, cut / 8).map((item) => cutTo(item, cut, depth + 1));
  return objectCut(value, cut, depth + 1);
}

function objectCut(value: JsonObject, cut: number, depth: number): JsonObject {
  const members = Object.entries(value).slice(0, cut / 8);
  return Object.fromEntries(members.map(([name, member]) => [name.slice(0, cut), cutTo(member, cut, depth)]));
}
