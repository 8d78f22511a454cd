import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import {
  isJsonContentType,
  readRequestBody,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import { type Context, Hono } from "hono";
import type { Logger } from "pino";
import type { Authenticate, Principal } from "../domain/principal.ts";
import type { Reply } from "./call.ts";
import type { Dispatcher } from "./dispatch.ts";
import { errorText, RpcError, toRpcError } from "./errors.ts";
import { deliver, resultText } from "./event-stream.ts";
import { checkEnvelope, checkName, type McpHeaders } from "./headers.ts";
import { type Message, parseMessage } from "./message.ts";
import { type RequestId, RPC } from "./protocol.ts";
import { openSse, type SseOptions } from "./sse.ts";

export type HttpDeps = {
  readonly dispatcher: Dispatcher;
  readonly authenticate: Authenticate;
  /** Host names (without port) that requests may be addressed to; null: any, for use behind a proxy that checks. */
  readonly allowedHosts: string[] | null;
  /** Host names of web pages that may call from a browser. */
  readonly allowedOrigins: string[];
  readonly maxBodyBytes: number;
  readonly sse: SseOptions;
  /** Aborts when the process is to stop: open streams end with their result, and clients resume elsewhere. */
  readonly stopping: AbortSignal;
  readonly log: Logger;
};

export const DEFAULT_MAX_BODY_BYTES = 1024 * 1024;
export const LOOPBACK_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

export type HttpEnv = { Bindings: HttpBindings };

const JSON_HEADERS = { "content-type": "application/json" };

/** The Streamable HTTP binding: one endpoint, POST only, nothing remembered between requests. */
export function createHttpApp(deps: HttpDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.post("/mcp", (c) => answerPost(c, deps));
  app.all(
    "/mcp",
    (c) => refusal(c, deps) ?? c.text("Method not allowed: POST only.", 405, { Allow: "POST" }),
  );
  return app;
}

async function answerPost(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const refused = refusal(c, deps);
  if (refused !== null) return refused;
  const auth = deps.authenticate(header(c, "authorization") ?? null);
  if (auth.kind === "refused") {
    return c.json({ error: "unauthorized", message: auth.message }, 401, {
      "WWW-Authenticate": auth.challenge,
    });
  }
  let id: RequestId | null = null;
  try {
    const message = parseMessage(await readBody(c, deps.maxBodyBytes));
    if (message.kind === "notification") return c.body(null, 202);
    id = message.id;
    const reply = await dispatchMessage(c, { message, principal: auth.principal }, deps);
    if (reply.kind === "result") return new Response(resultText(id, reply.result), { headers: JSON_HEADERS });
    return sendStream(c, { id, reply }, deps);
  } catch (error) {
    // Nobody hears an answer any more, and what broke off with the caller is no fault of ours.
    if (c.req.raw.signal.aborted) return hungUp(c, error, deps.log);
    const known = toRpcError(error, deps.log);
    return new Response(errorText(id, known), { status: known.httpStatus, headers: JSON_HEADERS });
  }
}

/**
 * A header by its lower-case name, from Node's own parse. The web Request would copy all of them into a Headers object
 * first, which costs a tenth of a tasks/get.
 */
function header(c: Context<HttpEnv>, name: string): string | undefined {
  const value = c.env.incoming.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** 403 for a host or a web page that is not allowed (C9); null when there is nothing to refuse. */
function refusal(c: Context<HttpEnv>, deps: HttpDeps): Response | null {
  if (deps.allowedHosts !== null) {
    const host = validateHostHeader(header(c, "host"), deps.allowedHosts);
    if (!host.ok) return c.json({ error: "forbidden", message: host.message }, 403);
  }
  const origin = validateOriginHeader(header(c, "origin"), deps.allowedOrigins);
  return origin.ok ? null : c.json({ error: "forbidden", message: origin.message }, 403);
}

async function readBody(c: Context<HttpEnv>, maxBytes: number): Promise<string> {
  if (!isJsonContentType(header(c, "content-type"))) {
    throw new RpcError(
      { code: RPC.invalidRequest, httpStatus: 415 },
      "Content-Type must be application/json.",
    );
  }
  const declared = Number(header(c, "content-length"));
  if (declared > maxBytes) throw tooLarge(maxBytes);
  // Node holds a body to its declared length; only one without a length has to be counted while it comes.
  if (declared >= 0) return await c.req.text();
  const body = await readRequestBody(c.req.raw, maxBytes);
  if (body.tooLarge) throw tooLarge(maxBytes);
  return body.text;
}

function tooLarge(maxBytes: number): RpcError {
  const message = `The body is over the limit of ${maxBytes} bytes.`;
  return new RpcError({ code: RPC.invalidRequest, httpStatus: 413 }, message);
}

function dispatchMessage(
  c: Context<HttpEnv>,
  { message, principal }: { message: Extract<Message, { kind: "request" }>; principal: Principal },
  deps: HttpDeps,
): Promise<Reply> {
  const headers: McpHeaders = {
    protocolVersion: header(c, "mcp-protocol-version"),
    method: header(c, "mcp-method"),
    name: header(c, "mcp-name"),
  };
  const meta = checkEnvelope(message, headers);
  deps.dispatcher.checkMethod(message.method);
  checkName(message, headers);
  const { method, params } = message;
  return deps.dispatcher.dispatch({
    method,
    params,
    meta,
    principal,
    // Made on demand: most calls never look, and it costs a whole web Request.
    get signal() {
      return callSignal(c, method, deps);
    },
  });
}

/** Streams end when the process stops; a call that waits for its job is let finish. */
function callSignal(c: Context<HttpEnv>, method: string, { stopping }: HttpDeps): AbortSignal {
  const hangUp = c.req.raw.signal;
  return method === "tasks/stream" ? AbortSignal.any([hangUp, stopping]) : hangUp;
}

function sendStream(
  c: Context<HttpEnv>,
  { id, reply }: { id: RequestId; reply: Extract<Reply, { kind: "stream" }> },
  deps: HttpDeps,
): Response {
  const { taskId, events, result } = reply;
  const sse = openSse(c.env.outgoing, deps.sse);
  const failure = (error: unknown) => errorText(id, toRpcError(error, deps.log));
  deliver(sse, { id, taskId, events, result, failure }).catch((error: unknown) => {
    deps.log.error({ event: "stream_crashed", err: error }, "a stream was broken off");
    sse.abort();
  });
  return RESPONSE_ALREADY_SENT;
}

function hungUp(c: Context<HttpEnv>, error: unknown, log: Logger): Response {
  log.debug({ event: "caller_hung_up", err: error }, "a caller hung up before its answer");
  return c.body(null, 400);
}
