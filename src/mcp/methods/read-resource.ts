import { TailraceError } from "../../domain/errors.ts";
import type { TaskLogSource } from "../../tasks/log.ts";
import type { Method } from "../call.ts";
import { invalidParams } from "../errors.ts";
import { requiredText } from "../params.ts";
import { parseLogUri } from "../uris.ts";

/** What one read hands out at most, in bytes of the log. */
const MAX_BYTES = 256 * 1024;

/** A task's log; each part says in `_meta` where to go on. Anything else is unknown (C16). */
export const readResource: Method = async (call, { tasks, reply }) => {
  const uri = requiredText(call.params, "uri");
  const log = parseLogUri(uri);
  if (log === null) throw unknownResource();
  const source = logSource(log.query.get("source"));
  const offset = logOffset(log.query.get("offset"));
  const request = { taskId: log.taskId, source, offset, maxBytes: MAX_BYTES };
  const part = await tasks.readLog(call.principal, request).catch((error: unknown) => {
    throw error instanceof TailraceError && error.code === "unknown_task" ? unknownResource() : error;
  });
  return reply.of({
    resultType: "complete",
    contents: [
      {
        uri,
        mimeType: "text/plain",
        text: part.text,
        _meta: {
          "dev.tailrace/nextOffset": part.nextOffset,
          "dev.tailrace/atEnd": part.atEnd,
          "dev.tailrace/final": part.atEnd && part.ended,
        },
      },
    ],
    ttlMs: 0,
    cacheScope: "private",
  });
};

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
