import { chmodSync, writeFileSync } from "node:fs";

/** Writes a program and answers its path. */
export function writeProgram(path: string, text: string): string {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}
