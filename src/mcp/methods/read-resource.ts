import { TailraceError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { TaskLogSource } from "../../tasks/log.ts";
import type { Call, Method, MethodDeps } from "../call.ts";
import { invalidParams } from "../errors.ts";
import { requiredText } from "../params.ts";
import { parseTaskPartUri, type TaskPartUri } from "../uris.ts";

/** What one read hands out at most, in bytes of the log. */
const MAX_BYTES = 256 * 1024;
const MAX_NAME = 200;

/** A task's log or metrics. Anything else is unknown (C16). */
export const readResource: Method = async (call, deps) => {
  const uri = requiredText(call.params, "uri");
  const target = parseTaskPartUri(uri);
  if (target === null) throw unknownResource();
  const reading = target.part === "log" ? readLog(call, deps, target) : readMetrics(call, deps, target);
  const contents = await reading.catch((error: unknown) => {
    throw error instanceof TailraceError && error.code === "unknown_task" ? unknownResource() : error;
  });
  return deps.reply.of({
    resultType: "complete",
    contents: [{ uri, ...contents }],
    ttlMs: 0,
    cacheScope: "private",
  });
};

/** Each part says in `_meta` where to go on. */
async function readLog(
  { principal }: Call,
  { tasks }: MethodDeps,
  { taskId, query }: TaskPartUri,
): Promise<JsonObject> {
  const source = logSource(query.get("source"));
  const offset = logOffset(query.get("offset"));
  const part = await tasks.readLog(principal, { taskId, source, offset, maxBytes: MAX_BYTES });
  return {
    mimeType: "text/plain",
    text: part.text,
    _meta: {
      "dev.tailrace/nextOffset": part.nextOffset,
      "dev.tailrace/atEnd": part.atEnd,
      "dev.tailrace/final": part.atEnd && part.ended,
    },
  };
}

async function readMetrics(
  { principal, signal }: Call,
  { tasks }: MethodDeps,
  { taskId, query }: TaskPartUri,
): Promise<JsonObject> {
  const only = query.get("only");
  if (only !== null && only.length > MAX_NAME) throw invalidParams("`only` names one field or metric.");
  const metrics = await tasks.metrics(principal, { taskId, only, signal });
  return { mimeType: "application/json", text: JSON.stringify(metrics) };
}

function unknownResource(): TailraceError {
  return new TailraceError("unknown_resource", "There is no such resource.");
}

function logSource(text: string | null): TaskLogSource {
  if (text === null || text === "stdout") return "stdout";
  if (text === "stderr") return "stderr";
  throw invalidParams("The log's source is stdout or stderr.");
}

function logOffset(text: string | null): number {
  const offset = text === null ? 0 : /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(offset)) throw invalidParams("The log's offset is a number of bytes, 0 or more.");
  return offset;
}
