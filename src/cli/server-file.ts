import { randomBytes } from "node:crypto";
import { readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { systemCode } from "./failure.ts";

/** How the commands of the same state directory find the server that runs on it. */
export const ServerFile = z.object({
  url: z.url({ protocol: /^https?$/ }),
  pid: z.number().int().positive(),
});
export type ServerFile = z.infer<typeof ServerFile>;

export function serverFilePath(stateDir: string): string {
  return join(stateDir, "server.json");
}

/** Of several servers on one state directory the newest is found. */
export async function writeServerFile(stateDir: string, server: ServerFile): Promise<void> {
  const path = serverFilePath(stateDir);
  const mine = `${path}.${randomBytes(6).toString("hex")}`;
  await writeFile(mine, `${JSON.stringify(server)}\n`, { flag: "wx", mode: 0o600 });
  await rename(mine, path);
}

/** Null when no server has left its address, or what is there is none. */
export async function readServerFile(stateDir: string): Promise<ServerFile | null> {
  const text = await readFile(serverFilePath(stateDir), "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return null;
    throw error;
  });
  if (text === null) return null;
  try {
    return ServerFile.parse(JSON.parse(text));
  } catch {
    return null; // cut or foreign: as good as none, and the next start writes a new one
  }
}

/** Leaves the file of a server that came later. */
export async function removeServerFile(stateDir: string, pid: number): Promise<void> {
  if ((await readServerFile(stateDir))?.pid !== pid) return;
  await unlink(serverFilePath(stateDir)).catch((error: unknown) => {
    if (systemCode(error) !== "ENOENT") throw error;
  });
}
