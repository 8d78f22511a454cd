import { LogCursor, type LogSource } from "../src/domain/adapter.ts";

/** The sources a follower reads, in the order in which their lines are told. */
export const SOURCES: readonly LogSource[] = ["stdout", "stderr", "messages"];

export type Cursors = Readonly<Record<LogSource, LogCursor | null>>;

/** Reads the stored cursor text; the empty text means that nothing was read yet. */
export function parseCursors(text: string): Cursors {
  const stored: unknown = text === "" ? {} : JSON.parse(text);
  const of = (source: LogSource): LogCursor | null => {
    const value = typeof stored === "object" && stored !== null ? Reflect.get(stored, source) : null;
    return value === null || value === undefined ? null : LogCursor.parse(value);
  };
  return { stdout: of("stdout"), stderr: of("stderr"), messages: of("messages") };
}
