import type { JsonObject } from "../domain/json.ts";
import { RpcError } from "./errors.ts";
import { isObject, META, member, RPC, SUPPORTED_VERSIONS } from "./protocol.ts";

/** The request headers that mirror the body; undefined where absent. */
export type McpHeaders = {
  readonly protocolVersion: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
};

type Request = { readonly method: string; readonly params: JsonObject };

/** Which member of params Mcp-Name repeats. A Map: methods come from outside. */
const NAME_SOURCE: ReadonlyMap<string, { readonly key: string; readonly isRequired: boolean }> = new Map([
  ["tools/call", { key: "name", isRequired: true }],
  ["prompts/get", { key: "name", isRequired: true }],
  ["resources/read", { key: "uri", isRequired: true }],
  ["tasks/get", { key: "taskId", isRequired: true }],
  ["tasks/update", { key: "taskId", isRequired: true }],
  ["tasks/cancel", { key: "taskId", isRequired: true }],
  // SEP-2694 is silent about the header.
  ["tasks/stream", { key: "taskId", isRequired: false }],
]);

/**
 * The request's `_meta`, once its envelope is whole and the version is one that we serve (C2, C4), and the headers
 * MCP-Protocol-Version and Mcp-Method say what it says (C3).
 */
export function checkEnvelope({ method, params }: Request, headers: McpHeaders): JsonObject {
  const meta = member(params, "_meta");
  const version = isObject(meta) ? member(meta, META.protocolVersion) : undefined;
  if (!isObject(meta) || version === undefined) {
    const named = headers.protocolVersion ?? requestedByHandshake(method, params);
    if (named === undefined || !SUPPORTED_VERSIONS.includes(named)) throw unsupportedVersion(named);
    throw missingMeta(META.protocolVersion);
  }
  if (typeof version !== "string") throw missingMeta(META.protocolVersion);
  if (headers.protocolVersion === undefined) throw mismatch("The header MCP-Protocol-Version is missing.");
  if (headers.protocolVersion !== version) {
    throw mismatch("The header MCP-Protocol-Version and the version in _meta differ.");
  }
  if (!SUPPORTED_VERSIONS.includes(version)) throw unsupportedVersion(version);
  if (!isObject(member(meta, META.clientCapabilities))) throw missingMeta(META.clientCapabilities);
  const info = member(meta, META.clientInfo);
  if (info !== undefined && !isObject(info)) throw missingMeta(META.clientInfo);
  if (headers.method === undefined) throw mismatch("The header Mcp-Method is missing.");
  if (headers.method !== method) throw mismatch("The header Mcp-Method and the method of the body differ.");
  return meta;
}

/** Mcp-Name against the body (C3). Apart from the envelope because an unknown method is told first. */
export function checkName({ method, params }: Request, headers: McpHeaders): void {
  const source = NAME_SOURCE.get(method);
  if (source === undefined) return;
  const value = member(params, source.key);
  if (headers.name === undefined) {
    if (source.isRequired && typeof value === "string") {
      throw mismatch(`The header Mcp-Name is missing: it repeats params.${source.key}.`);
    }
    return;
  }
  const name = decodeName(headers.name);
  if (name === null) throw mismatch("The header Mcp-Name is not valid Base64 of UTF-8 text.");
  if (typeof value === "string" && name !== value) {
    throw mismatch(`The header Mcp-Name and params.${source.key} differ.`);
  }
}

/** A name that fits no header comes as `=?base64?…?=`. */
function decodeName(header: string): string | null {
  const encoded = /^=\?base64\?(.*)\?=$/s.exec(header)?.[1];
  if (encoded === undefined) return header;
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, "base64"));
  } catch {
    return null;
  }
}

/** The version that a client of an older revision asks for in its handshake. */
function requestedByHandshake(method: string, params: JsonObject): string | undefined {
  const version = method === "initialize" ? member(params, "protocolVersion") : undefined;
  return typeof version === "string" ? version : undefined;
}

function mismatch(message: string): RpcError {
  return new RpcError({ code: RPC.headerMismatch, httpStatus: 400 }, message);
}

function missingMeta(key: string): RpcError {
  const message = `Every request carries _meta["${key}"]; here it is missing or malformed.`;
  return new RpcError({ code: RPC.invalidParams, httpStatus: 400 }, message, { missing: [key] });
}

function unsupportedVersion(requested: string | undefined): RpcError {
  const message =
    requested === undefined
      ? "The request names no protocol version."
      : `Protocol version ${requested.slice(0, 40)} is not served here.`;
  return new RpcError({ code: RPC.unsupportedVersion, httpStatus: 400 }, message, {
    supported: [...SUPPORTED_VERSIONS],
    ...(requested === undefined ? {} : { requested }),
  });
}
