import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import type { Env } from "./places.ts";

export type TextFile =
  | { readonly kind: "text"; readonly text: string; readonly mode: number }
  /** `isAbsent`: there is no such file. The message reads after the file's name. */
  | { readonly kind: "unusable"; readonly message: string; readonly isAbsent: boolean };

/** A whole text file, if it is a regular file of valid UTF-8 of at most `maxBytes`. */
export async function readTextFile(path: string, maxBytes: number): Promise<TextFile> {
  try {
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = await file.stat();
      if (stat.isDirectory()) return unusable("is a directory, not a file");
      if (!stat.isFile()) return unusable("is not a regular file");
      if (stat.size > maxBytes) return unusable(`has ${stat.size} bytes: at most ${maxBytes} are read`);
      const bytes = await file.readFile();
      if (bytes.includes(0)) return unusable("holds a NUL byte: it is no text file");
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
      return { kind: "text", text, mode: stat.mode & 0o777 };
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return unusable("is not valid UTF-8");
    if (code === "ENOENT" || code === "ENOTDIR") return { ...unusable("does not exist"), isAbsent: true };
    if (code === "EACCES" || code === "EPERM") return unusable("may not be read by this user");
    return unusable(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function unusable(message: string) {
  return { kind: "unusable", message, isAbsent: false } as const;
}

/** A path of the file: `~/` is the home directory, everything else that is relative starts at `from`. */
export function resolvePath(
  path: string,
  { from, env }: { readonly from: string; readonly env: Env },
): string {
  const home = env["HOME"];
  if (path.startsWith("~/") && home !== undefined && isAbsolute(home)) return join(home, path.slice(2));
  return resolve(from, path);
}
