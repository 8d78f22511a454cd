import { pino } from "pino";
import { expect, test } from "vitest";
import { ERRORS, type ErrorCode, TailraceError } from "../../../src/domain/errors.ts";
import { errorText, toRpcError } from "../../../src/mcp/errors.ts";

const log = pino({ level: "silent" });
const wire = (code: ErrorCode, data = {}) => toRpcError(new TailraceError(code, "said", { data }), log);

/** Codes and statuses never change once released. */
test("C7 every error of ours has its code and status, in no range that others own", () => {
  const table = Object.keys(ERRORS).map((code) => {
    const { code: number, httpStatus } = wire(code as ErrorCode);
    return `${code} ${number} ${httpStatus}`;
  });
  expect(table).toEqual([
    "unknown_tool -32602 200",
    "invalid_arguments -32602 200",
    "key_conflict -32602 200",
    "key_expired -32602 200",
    "key_missing -32602 200",
    "unknown_task -32602 200",
    "invalid_cursor -32602 200",
    "events_gone -32010 200",
    "unknown_resource -32602 200",
    "tasks_required -32021 400",
    "limit_reached -32602 429",
    "target_unavailable -32603 503",
    "store_unavailable -32603 503",
    "store_full -32603 503",
    "store_mismatch -32603 500",
  ]);
});

test("a fault of the store is told in our words, with the advice there is", () => {
  const fault = new TailraceError("store_unavailable", "no answer (connect /run/secret.sock)");
  expect(toRpcError(fault, log)).toMatchObject({
    message: "The store did not answer. Send the request again.",
    data: { reason: "store_unavailable", retryable: true },
  });
  expect(wire("store_unavailable", { advice: "Retry with the same key." })).toMatchObject({
    message: "The store did not answer. Retry with the same key.",
  });
});

test("a fault that nobody foresaw says nothing of its inside", () => {
  const error = toRpcError(new TypeError("cannot read /home/me"), log);
  expect(JSON.parse(errorText("x", error))).toEqual({
    jsonrpc: "2.0",
    id: "x",
    error: { code: -32603, message: "Internal error." },
  });
});
