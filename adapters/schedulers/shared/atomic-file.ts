import { randomBytes } from "node:crypto";
import { link, open, rename, rm } from "node:fs/promises";
import { BridgeError, type BridgeFault } from "../../../src/domain/errors.ts";

/** The code of a system error (`ENOENT`), or null for any other value. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

/** Codes of a place that takes no more writes. */
export const NO_ROOM: readonly string[] = ["ENOSPC", "EDQUOT", "EROFS"];

/** Runs `work`; a system error with one of these codes gives `otherwise`. */
export async function unlessCode<T, U>(
  codes: readonly string[],
  otherwise: U,
  work: () => Promise<T>,
): Promise<T | U> {
  try {
    return await work();
  } catch (error) {
    if (codes.includes(errorCode(error) ?? "")) return otherwise;
    throw error;
  }
}

async function writeTemporary(path: string, text: string, mode: number): Promise<string> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.new`;
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
    return temporary;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The file appears whole or not at all; one that is there is replaced. */
export async function writeWhole(path: string, text: string, mode = 0o600): Promise<void> {
  const temporary = await writeTemporary(path, text, mode);
  try {
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The file appears whole or not at all; one that is there stays. True: it is ours. Safe on NFS, where O_EXCL is not. */
export async function writeOnce(path: string, text: string, mode = 0o600): Promise<boolean> {
  const temporary = await writeTemporary(path, text, mode);
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full: free some space",
  EDQUOT: "the disk quota is used up: free some space or raise it",
  EROFS: "the file system is read-only: make it writable",
  EACCES: "permission is denied: give this server's user access",
  EPERM: "that is not permitted",
  ENOTDIR: "a part of the path is no directory",
  EMFILE: "too many files are open: raise the limit (ulimit -n)",
};

/** What a submit is called in messages. */
export const SUBMITTING = "submitting a job";

/** A fault of the file system on the way to a target, in words. Faults that already are BridgeErrors stay. */
export function asBridgeError(
  error: unknown,
  where: { fault: BridgeFault; target: string; doing: string },
): BridgeError {
  if (error instanceof BridgeError) return error;
  const code = errorCode(error);
  const said = error instanceof Error ? error.message : String(error);
  const why = code !== null && code in ADVICE ? `${ADVICE[code]} (${said})` : said;
  const next = where.fault === "unreachable" && where.doing === SUBMITTING ? "; nothing was started" : "";
  return new BridgeError(
    where.fault,
    where.target,
    `${where.doing} on target ${where.target}: ${why}${next}`,
    {
      cause: error,
    },
  );
}
