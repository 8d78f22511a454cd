import type { LogChunk, LogRequest, LogSource } from "../../../src/domain/adapter.ts";
import { readLife } from "./exit-record.ts";
import type { JobLayout } from "./job-layout.ts";
import { readLog } from "./log-reader.ts";

/**
 * The next bytes of a job's log. The logs of a requeued job go on in the same files: where a later life begins, a chunk
 * ends, and the next one is `restarted`.
 */
export function readJobLog(
  layout: JobLayout,
  { source, cursor, maxBytes }: Omit<LogRequest, "job">,
): Promise<LogChunk> {
  const path = layout.log(source);
  return readLog({ path, cursor, maxBytes, findStarts: () => lifeStarts(layout, source) });
}

/** Where lives after the first begin in this log, in bytes. A job with one life costs one look for a file that is not there. */
async function lifeStarts(layout: JobLayout, source: LogSource): Promise<number[]> {
  const starts: number[] = [];
  for (let life = 1; ; life++) {
    const record = await readLife(layout, life);
    if (record === "missing") return starts;
    // Nothing was written before byte 0, so nothing starts anew there.
    const from = record?.from?.[source] ?? 0;
    if (from > 0) starts.push(from);
  }
}
