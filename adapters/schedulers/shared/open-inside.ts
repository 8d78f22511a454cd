import { constants } from "node:fs";
import { type FileHandle, open, readlink } from "node:fs/promises";

export type OpenRefusal = { readonly refused: string };

/**
 * Opens a regular file for reading and makes sure that it lies where its name says: the last part is no link, it does
 * not block (a FIFO, a device), and no directory on the way was swapped for a link. `directory` must be a real path.
 * System errors (ENOENT, EACCES) are thrown.
 */
export async function openInside(directory: string, path: string): Promise<FileHandle | OpenRefusal> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "ELOOP") return { refused: "a symbolic link" };
    if (code === "ENXIO" || code === "ENODEV") return { refused: "no regular file" };
    throw error;
  }
  const refused = await refusal(file, directory);
  if (refused === null) return file;
  await file.close();
  return { refused };
}

async function refusal(file: FileHandle, directory: string): Promise<string | null> {
  if (!(await file.stat()).isFile()) return "no regular file";
  // Asked of the open descriptor: no race with whoever renames directories meanwhile.
  const real = await readlink(`/proc/self/fd/${file.fd}`);
  return real.startsWith(`${directory}/`) ? null : "outside the job's directory";
}
