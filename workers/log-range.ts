import type { JobRef, LogSource, SchedulerAdapter } from "../src/domain/adapter.ts";

export type RangeRequest = {
  readonly job: JobRef;
  readonly source: LogSource;
  /** Bytes of the log as it lies there. */
  readonly offset: number;
  readonly maxBytes: number;
};

/** Bytes of a log from an offset on, over the places where it starts anew. An offset beyond its end gives nothing. */
export async function readLogRange(
  { readLogs }: Pick<SchedulerAdapter, "readLogs">,
  { job, source, offset, maxBytes }: RangeRequest,
  signal: AbortSignal,
): Promise<{ readonly bytes: Uint8Array; readonly atEnd: boolean }> {
  const [start] = await readLogs([{ job, source, cursor: null, maxBytes: 0 }], signal);
  const parts: Uint8Array[] = [];
  let left = maxBytes;
  let cursor = start?.cursor ?? null;
  if (cursor !== null) cursor = { ...cursor, offset };
  while (cursor !== null) {
    const [chunk] = await readLogs([{ job, source, cursor, maxBytes: left }], signal);
    const next = chunk?.cursor ?? null;
    if (chunk === undefined || next === null) break;
    // A log that was cut is read from its start; here that is simply its end.
    if (next.file !== cursor.file || next.offset - chunk.bytes.length !== cursor.offset) break;
    parts.push(chunk.bytes);
    left -= chunk.bytes.length;
    if (chunk.atEnd || chunk.bytes.length === 0 || left <= 0)
      return { bytes: Buffer.concat(parts), atEnd: chunk.atEnd };
    cursor = next;
  }
  return { bytes: Buffer.concat(parts), atEnd: true };
}
