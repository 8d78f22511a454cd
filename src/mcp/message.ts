import type { JsonObject } from "../domain/json.ts";
import { RpcError } from "./errors.ts";
import { isObject, type RequestId, RPC } from "./protocol.ts";

export type Message =
  | { readonly kind: "request"; readonly id: RequestId; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject };

/** One JSON-RPC message. Throws RpcError: −32700 for text that is no JSON, −32600 for JSON that is no such message. */
export function parseMessage(text: string): Message {
  const value = parseJson(text);
  if (Array.isArray(value))
    throw invalidRequest("Batches are not part of this protocol: send one message per POST.");
  if (!isObject(value) || value["jsonrpc"] !== "2.0")
    throw invalidRequest("This is no JSON-RPC 2.0 message.");
  const { id, method, params = {} } = value;
  if (typeof method !== "string")
    throw invalidRequest("The message has no method; responses are not taken here.");
  if (!isObject(params)) throw invalidRequest("params must be an object.");
  if (id === undefined) return { kind: "notification", method, params };
  if (typeof id !== "string" && !isInteger(id)) {
    throw invalidRequest("id must be a string or an integer.");
  }
  return { kind: "request", id, method, params };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RpcError({ code: RPC.parseError, httpStatus: 400 }, "The body is not valid JSON.");
  }
}

function invalidRequest(message: string): RpcError {
  return new RpcError({ code: RPC.invalidRequest, httpStatus: 400 }, message);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
