import type { JsonObject } from "../domain/json.ts";

/** The revisions served here, newest first. */
export const SUPPORTED_VERSIONS: readonly string[] = ["2026-07-28"];

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

export const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  relatedTask: "io.modelcontextprotocol/related-task",
  existing: "dev.tailrace/existing",
  idempotency: "dev.tailrace/idempotency",
} as const;

export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  eventsGone: -32010,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

export type RequestId = string | number;

export type ServerInfo = { readonly name: string; readonly title?: string; readonly version: string };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member that the object itself has: text from outside must not reach what every object inherits. */
export function member(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
