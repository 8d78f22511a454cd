import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, mkdir, open, unlink } from "node:fs/promises";
import { join } from "node:path";

/** Name of the token that is drawn where the operator configured none. */
export const DRAWN_TOKEN_NAME = "local";

const FILE = "token";

export function drawnTokenPath(stateDir: string): string {
  return join(stateDir, FILE);
}

/** The token that was drawn, or null. Throws as `ensureDrawnToken` does. */
export function readDrawnToken(stateDir: string): Promise<string | null> {
  return readToken(drawnTokenPath(stateDir));
}

/**
 * The token of this state directory, drawn once: whoever comes first makes the file (0600), all others read it. Throws
 * when the file is not ours, is readable by others, is a link, or holds no token.
 */
export async function ensureDrawnToken(stateDir: string): Promise<string> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const path = drawnTokenPath(stateDir);
  return (await readToken(path)) ?? (await drawToken(path));
}

async function drawToken(path: string): Promise<string> {
  const mine = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    const file = await open(mine, "wx", 0o600);
    try {
      await file.writeFile(`${randomBytes(32).toString("base64url")}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    // A link is made whole or not at all, and never replaces the file of another process.
    await link(mine, path).catch((error: unknown) => {
      if (!hasCode(error, "EEXIST")) throw error;
    });
  } finally {
    await unlink(mine).catch((error: unknown) => {
      if (!hasCode(error, "ENOENT")) throw error;
    });
  }
  const token = await readToken(path);
  if (token === null) throw new Error(`${path} was removed while it was being made; start again.`);
  return token;
}

async function readToken(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return null;
    if (hasCode(error, "ELOOP"))
      throw new Error(`${path} is a symbolic link; remove it, and a token is drawn.`);
    throw error;
  });
  if (file === null) return null;
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error(`${path} is not a file; remove it, and a token is drawn.`);
    if (process.getuid !== undefined && stat.uid !== process.getuid()) {
      throw new Error(`${path} belongs to another user (uid ${stat.uid}).`);
    }
    if ((stat.mode & 0o077) !== 0) {
      const mode = (stat.mode & 0o777).toString(8);
      throw new Error(`${path} may be read by others (mode ${mode}): remove it, and a new token is drawn.`);
    }
    const token = (await file.readFile("utf8")).trim();
    if (!/^[A-Za-z0-9_-]{32,}$/.test(token)) {
      throw new Error(`${path} holds no token; remove it, and a new one is drawn.`);
    }
    return token;
  } finally {
    await file.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
