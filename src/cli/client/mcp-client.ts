import { z } from "zod";
import { JsonObject } from "../../domain/json.ts";
import type { Locate } from "./address.ts";
import { readBody, readText } from "./body.ts";
import { headersFor, withMeta } from "./envelope.ts";
import { Refused, Unreachable } from "./faults.ts";
import { readSse } from "./sse.ts";

export type RequestOptions = {
  readonly signal?: AbortSignal;
  /** More members of `_meta`. */
  readonly meta?: JsonObject;
  /** The server answers with a stream: its first bytes are here. */
  readonly onStream?: () => void;
  /** Takes what the server sends before its answer, when it answers with a stream. */
  readonly onNotification?: (method: string, params: JsonObject) => void;
};

/**
 * Speaks MCP 2026-07-28 over Streamable HTTP, without a session. Throws `Unreachable` where the same request may be sent
 * again, `Refused` where that is no use, and the signal's reason when that was the end of it.
 */
export type McpClient = {
  request(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject>;
};

const Answer = z.object({
  id: z.unknown().optional(),
  method: z.string().optional(),
  params: JsonObject.optional(),
  result: JsonObject.optional(),
  error: z.object({ code: z.number(), message: z.string(), data: JsonObject.optional() }).optional(),
});
type Answer = z.infer<typeof Answer>;

/** The server sends a comment every 15 s; so long without a byte means that nobody is there any more. */
const DEFAULT_SILENCE_MS = 60_000;
const AWAY: readonly number[] = [429, 502, 503, 504];

export function createMcpClient(locate: Locate, silenceMs = DEFAULT_SILENCE_MS): McpClient {
  let lastId = 0;
  return {
    async request(method, params, options = {}) {
      const id = ++lastId;
      // What is wrong on our own side is no fault of the way to the server.
      const { url, token } = await locate();
      const watch = watchSilence(silenceMs, options.signal);
      try {
        const response = await fetch(url, {
          method: "POST",
          headers: headersFor(method, params, token),
          body: JSON.stringify({ jsonrpc: "2.0", id, method, params: withMeta(params, options.meta) }),
          signal: watch.signal,
          // A server never sends us elsewhere, and the token is for nobody else.
          redirect: "error",
        });
        watch.heard();
        return await readAnswer(response, { id, options, ...watch });
      } catch (error) {
        if (options.signal?.aborted) throw options.signal.reason;
        throw error instanceof Unreachable || error instanceof Refused ? error : brokenOff(error);
      } finally {
        watch.stop();
      }
    },
  };
}

type Reading = {
  readonly id: number;
  readonly options: RequestOptions;
  readonly heard: () => void;
  readonly signal: AbortSignal;
};

async function readAnswer(response: Response, reading: Reading): Promise<JsonObject> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) {
    reading.options.onStream?.();
    for await (const data of readSse(readBody(response, reading.signal), reading.heard)) {
      const message = parseAnswer(data);
      if (message.method !== undefined)
        reading.options.onNotification?.(message.method, message.params ?? {});
      else if (message.id === reading.id) return resultOf(message, response.status);
    }
    throw new Unreachable("the stream ended without its result");
  }
  const text = await readText(response, reading.signal);
  if (response.status === 401 || response.status === 403) throw notAllowed(response.status, text);
  if (!type.startsWith("application/json")) throw foreign(response.status);
  return resultOf(parseAnswer(text), response.status);
}

function parseAnswer(text: string): Answer {
  try {
    return Answer.parse(JSON.parse(text));
  } catch (error) {
    throw new Unreachable("the answer is no MCP message", { cause: error });
  }
}

function resultOf({ result, error }: Answer, status: number): JsonObject {
  if (result !== undefined) return result;
  if (error === undefined) throw foreign(status);
  const { code, message, data = {} } = error;
  if (AWAY.includes(status) || data["retryable"] === true) throw new Unreachable(message);
  throw new Refused(message, code, data);
}

function foreign(status: number): Error {
  if (AWAY.includes(status)) return new Unreachable(`HTTP ${status}`);
  return new Refused(
    `what answers there is no tailrace (HTTP ${status}): check the URL, which ends in /mcp`,
    null,
  );
}

function notAllowed(status: number, text: string): Refused {
  let said = "";
  try {
    said = z.object({ message: z.string() }).parse(JSON.parse(text)).message;
  } catch {
    said = `HTTP ${status}`; // not our own words, so none that would help
  }
  const advice =
    status === 401
      ? "Give the server's token with --token-file or in TAILRACE_TOKEN."
      : "Use an address that the server allows (listen.allowedHosts).";
  return new Refused(`${said} ${advice}`, null);
}

function brokenOff(error: unknown): Unreachable {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Unreachable(why === "" ? "the connection failed" : why, { cause: error });
}

function watchSilence(silenceMs: number, outer: AbortSignal | undefined) {
  const silence = new AbortController();
  const timer = setTimeout(() => {
    silence.abort(new Unreachable(`nothing was heard for ${Math.round(silenceMs / 1000)} s`));
  }, silenceMs);
  return {
    signal: outer === undefined ? silence.signal : AbortSignal.any([outer, silence.signal]),
    heard: () => void timer.refresh(),
    stop: () => clearTimeout(timer),
  };
}
