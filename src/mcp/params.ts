import type { JsonObject } from "../domain/json.ts";
import { invalidParams } from "./errors.ts";
import { isObject, member } from "./protocol.ts";

export function requiredText(params: JsonObject, key: string): string {
  const value = member(params, key);
  if (typeof value !== "string") throw invalidParams(`params.${key} must be a string.`);
  return value;
}

export function optionalObject(params: JsonObject, key: string): JsonObject {
  const value = member(params, key);
  if (value === undefined) return {};
  if (!isObject(value)) throw invalidParams(`params.${key} must be an object.`);
  return value;
}
