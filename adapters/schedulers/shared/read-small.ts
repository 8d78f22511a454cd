import { unlessCode } from "./atomic-file.ts";
import type { JobLayout } from "./job-layout.ts";
import { openInside } from "./open-inside.ts";

/** Claims and records are some KiB at most. */
const MAX_BYTES = 64 * 1024;

/**
 * What a claim or record says. Null: it is not there, or is nothing that the wrapper or we could have written (a link, a
 * FIFO, a directory, something huge). The job's user may put such in its place: a server with more rights than he has
 * neither follows it nor waits for it. Other system errors (EACCES, EIO) are thrown.
 */
export async function readSmall(layout: JobLayout, path: string): Promise<string | null> {
  const file = await unlessCode(["ENOENT", "ENOTDIR"], null, () => openInside(layout.root, path));
  if (file === null || "refused" in file) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES + 1), 0, MAX_BYTES + 1, 0);
    return bytesRead > MAX_BYTES ? null : buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
