import { BridgeError, TailraceError } from "../domain/errors.ts";
import type { Principal } from "../domain/principal.ts";
import type { TaskStore } from "../domain/store.ts";
import type { TaskRecord } from "../domain/task.ts";
import { readOwned } from "./owned.ts";

export type TaskLogSource = "stdout" | "stderr";

export type LogRange = {
  /** Bytes from the start of the log. */
  readonly offset: number;
  readonly maxBytes: number;
};

/** Reads a job's log where it lies. The secret of the job's message channel is redacted by whoever reads. */
export type ReadLog = (
  record: TaskRecord,
  source: TaskLogSource,
  range: LogRange,
) => Promise<{ readonly bytes: Uint8Array; readonly atEnd: boolean }>;

export type LogText = {
  /** Control characters but newline and tab are taken out; invalid UTF-8 is replaced. */
  readonly text: string;
  /** Where to go on, in bytes. */
  readonly nextOffset: number;
  /** Nothing more at this moment; final only when `ended`. */
  readonly atEnd: boolean;
  readonly ended: boolean;
};

/** A part of the caller's task's log as text that can be shown, cut between characters. */
export async function readTaskLog(
  { store, readLog }: { readonly store: Pick<TaskStore, "read">; readonly readLog: ReadLog },
  caller: Principal,
  request: LogRange & { readonly taskId: string; readonly source: TaskLogSource },
): Promise<LogText> {
  const { record } = await readOwned(store, caller, request.taskId);
  const ended = record.phase === "ended";
  const { offset, maxBytes, source } = request;
  if (record.job === null) return { text: "", nextOffset: offset, atEnd: true, ended };
  const chunk = await readLog(record, source, { offset, maxBytes }).catch((error: unknown) => {
    throw outOfReach(record.target, error);
  });
  const whole = chunk.atEnd && ended ? chunk.bytes.length : wholeCharacters(chunk.bytes);
  const text = new TextDecoder().decode(chunk.bytes.subarray(0, whole));
  return {
    text: printable(text),
    nextOffset: offset + whole,
    atEnd: chunk.atEnd,
    ended,
  };
}

/** A log that the target does not hand out in time is there later; faults of ours stay what they are. */
export function outOfReach(target: string, error: unknown): unknown {
  const isTimeout = error instanceof Error && error.name === "TimeoutError";
  if (!isTimeout && !(error instanceof BridgeError)) return error;
  const message = `The log of a job on ${target} cannot be read just now; try again.`;
  return new TailraceError("target_unavailable", message, { cause: error });
}

/** How many bytes remain when a character that the last bytes only begin is left for the next read. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function printable(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/(?![\n\t])\p{Cc}/gu, "");
}
