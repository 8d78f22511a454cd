import type { JsonObject } from "../../domain/json.ts";
import { META, SUPPORTED_VERSIONS, TASKS_EXTENSION } from "../../mcp/protocol.ts";
import { VERSION } from "../../observe/version.ts";

const PROTOCOL_VERSION = SUPPORTED_VERSIONS[0] ?? "";

/** Nothing is remembered between requests, so each says who asks and what it can take (C2). */
export function withMeta(params: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    ...params,
    _meta: {
      [META.protocolVersion]: PROTOCOL_VERSION,
      [META.clientInfo]: { name: "tailrace-cli", version: VERSION },
      [META.clientCapabilities]: { extensions: { [TASKS_EXTENSION]: {} } },
      ...more,
    },
  };
}

/** The headers that repeat the body (C3). */
export function headersFor(method: string, params: JsonObject, token: string | null): Record<string, string> {
  const name = params["name"] ?? params["uri"] ?? params["taskId"];
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    // A server that stops takes no new connection: whatever answers one is there to stay.
    connection: "close",
    "mcp-protocol-version": PROTOCOL_VERSION,
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": headerText(name) } : {}),
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
}

/** Text that fits no header goes as Base64; so does text that looks as if it were. */
function headerText(text: string): string {
  if (/^[!-~]([ -~]*[!-~])?$/.test(text) && !text.startsWith("=?base64?")) return text;
  return `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}
