import { type FileHandle, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { LogChunk, LogCursor } from "../../../src/domain/adapter.ts";
import { unlessCode } from "./atomic-file.ts";
import { openInside } from "./open-inside.ts";

export type LogFileRequest = {
  readonly path: string;
  readonly cursor: LogCursor | null;
  readonly maxBytes: number;
  /** Bytes at which the present file starts anew, beside 0. Asked only when there is something to return. */
  readonly findStarts?: () => Promise<readonly number[]>;
};

type Opened = { readonly file: FileHandle; readonly id: string; readonly size: number };

/**
 * The next bytes of a log. A file that is not there, or is no regular file in its own directory (a link, a FIFO), reads
 * as empty. Smaller than the cursor's offset: it was cut, and is read from its start. Another file under the same name:
 * what is left of the old one is read first, as long as it lies in the same directory under any name.
 *
 * A cursor names a file by its inode alone: device numbers of network file systems change with each mount. A file that
 * was cut and has already grown past the offset cannot be told from one that only grew.
 */
export async function readLog(request: LogFileRequest): Promise<LogChunk> {
  const { cursor, path } = request;
  const current = await openLog(path);
  try {
    if (cursor !== null && current?.id !== cursor.file) {
      const old = await readOld(request, cursor);
      if (old !== null) return old;
    }
    if (current === null) return { bytes: new Uint8Array(), cursor, atEnd: true, restarted: false };
    const isSame = cursor !== null && cursor.file === current.id && cursor.offset <= current.size;
    const from = isSame ? cursor.offset : 0;
    const total = cursor?.total ?? 0;
    const restarted = cursor !== null && !isSame;
    const chunk = await readFrom(current, { from, total, maxBytes: request.maxBytes, restarted });
    if (chunk.bytes.length === 0 || request.findStarts === undefined) return chunk;
    return upToStart(chunk, from, await request.findStarts());
  } finally {
    await current?.file.close();
  }
}

/** Bytes that the cursor's file still holds after it was renamed, or null. */
async function readOld(request: LogFileRequest, cursor: LogCursor): Promise<LogChunk | null> {
  const directory = dirname(request.path);
  const stem = basename(request.path);
  const names = await unlessCode(["ENOENT", "ENOTDIR"], [], () => readdir(directory));
  for (const name of names) {
    if (name === stem || !name.startsWith(stem)) continue;
    const old = await openLog(join(directory, name));
    if (old === null) continue;
    try {
      if (old.id !== cursor.file || old.size <= cursor.offset) continue;
      const { offset: from, total } = cursor;
      const chunk = await readFrom(old, { from, total, maxBytes: request.maxBytes, restarted: false });
      return { ...chunk, atEnd: false };
    } finally {
      await old.file.close();
    }
  }
  return null;
}

/** A chunk that begins at byte `from`, ended where something new starts. */
function upToStart(chunk: LogChunk, from: number, starts: readonly number[]): LogChunk {
  const { bytes, cursor } = chunk;
  const restarted = chunk.restarted || starts.includes(from);
  const next = Math.min(...starts.filter((start) => start > from));
  const beyond = from + bytes.length - next;
  if (beyond <= 0 || cursor === null) return { ...chunk, restarted };
  return {
    bytes: bytes.subarray(0, next - from),
    cursor: { ...cursor, offset: next, total: cursor.total - beyond },
    atEnd: false,
    restarted,
  };
}

async function openLog(path: string): Promise<Opened | null> {
  const file = await unlessCode(["ENOENT", "ENOTDIR", "EACCES"], null, async () =>
    openInside(await realpath(dirname(path)), path),
  );
  if (file === null || "refused" in file) return null;
  const { ino, size } = await file.stat({ bigint: true });
  return { file, id: String(ino), size: Number(size) };
}

async function readFrom(
  opened: Opened,
  place: { from: number; total: number; maxBytes: number; restarted: boolean },
): Promise<LogChunk> {
  const wanted = Math.max(0, Math.min(place.maxBytes, opened.size - place.from));
  const buffer = Buffer.allocUnsafe(wanted);
  let length = 0;
  while (length < wanted) {
    const { bytesRead } = await opened.file.read(buffer, length, wanted - length, place.from + length);
    if (bytesRead === 0) break; // cut while it was read: the next call sees that
    length += bytesRead;
  }
  const offset = place.from + length;
  return {
    bytes: buffer.subarray(0, length),
    cursor: { file: opened.id, offset, total: place.total + length },
    atEnd: offset >= opened.size,
    restarted: place.restarted,
  };
}
