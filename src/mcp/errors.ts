import type { Logger } from "pino";
import { type ErrorCode, TailraceError } from "../domain/errors.ts";
import { type RequestId, RPC } from "./protocol.ts";

type Wire = { readonly code: number; readonly httpStatus: number };

/** What a protocol error of ours looks like on the wire. Faults of one call keep HTTP 200: the error is the payload. */
const WIRE: Readonly<Record<ErrorCode, Wire>> = {
  unknown_tool: { code: RPC.invalidParams, httpStatus: 200 },
  invalid_arguments: { code: RPC.invalidParams, httpStatus: 200 },
  key_conflict: { code: RPC.invalidParams, httpStatus: 200 },
  key_expired: { code: RPC.invalidParams, httpStatus: 200 },
  key_missing: { code: RPC.invalidParams, httpStatus: 200 },
  unknown_task: { code: RPC.invalidParams, httpStatus: 200 },
  invalid_cursor: { code: RPC.invalidParams, httpStatus: 200 },
  events_gone: { code: RPC.eventsGone, httpStatus: 200 },
  unknown_resource: { code: RPC.invalidParams, httpStatus: 200 },
  tasks_required: { code: RPC.missingCapability, httpStatus: 400 },
  limit_reached: { code: RPC.invalidParams, httpStatus: 429 },
  target_unavailable: { code: RPC.internalError, httpStatus: 503 },
  store_unavailable: { code: RPC.internalError, httpStatus: 503 },
  store_full: { code: RPC.internalError, httpStatus: 503 },
  store_mismatch: { code: RPC.internalError, httpStatus: 500 },
};

/** Faults of the store are told in these words; its own name hosts and paths. `data.advice` says more, where there is more. */
const STORE_WORDS: Partial<Readonly<Record<ErrorCode, string>>> = {
  store_unavailable: "The store did not answer.",
  store_full: "The store is full and takes no new tasks; nothing was written.",
  store_mismatch: "The store does not fit this server.",
};

/** An error as it goes out. */
export class RpcError extends Error {
  readonly code: number;
  readonly httpStatus: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  constructor(wire: Wire, message: string, data?: Readonly<Record<string, unknown>>) {
    super(message);
    this.name = "RpcError";
    this.code = wire.code;
    this.httpStatus = wire.httpStatus;
    this.data = data;
  }
}

export function invalidParams(message: string): RpcError {
  return new RpcError({ code: RPC.invalidParams, httpStatus: 200 }, message);
}

/** Every fault as an RpcError. One that nobody foresaw is logged and says nothing about its inside. */
export function toRpcError(error: unknown, log: Logger): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof TailraceError) {
    return known(error, log);
  }
  log.error({ event: "request_crashed", err: error }, "a request met a fault that nobody foresaw");
  return new RpcError({ code: RPC.internalError, httpStatus: 500 }, "Internal error.");
}

function known(error: TailraceError, log: Logger): RpcError {
  const { code, retryable } = error;
  const wire = WIRE[code];
  if (wire.code === RPC.internalError) log.warn({ event: "request_failed", code, err: error }, error.message);
  const { advice, ...data } = error.data;
  const words = STORE_WORDS[code];
  const told = typeof advice === "string" ? advice : retryable ? "Send the request again." : "";
  const message = words === undefined ? error.message : `${words} ${told}`.trim();
  return new RpcError(wire, message, { reason: code, ...(retryable ? { retryable: true } : {}), ...data });
}

export function errorText(id: RequestId | null, error: RpcError): string {
  const { code, message, data } = error;
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    error: data === undefined ? { code, message } : { code, message, data },
  });
}
