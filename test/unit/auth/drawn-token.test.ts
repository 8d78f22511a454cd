import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { drawnTokenPath, ensureDrawnToken } from "../../../src/auth/drawn-token.ts";

let dir: string;
let state: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "tr-token-"));
  state = join(dir, "deep", "state");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test("a token is drawn once, for its owner's eyes only, and nothing else is left", async () => {
  const token = await ensureDrawnToken(state);
  expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(await ensureDrawnToken(state)).toBe(token);
  expect((await stat(drawnTokenPath(state))).mode & 0o777).toBe(0o600);
  expect((await stat(state)).mode & 0o777).toBe(0o700);
  expect(await readdir(state)).toEqual(["token"]);
  expect(await readFile(drawnTokenPath(state), "utf8")).toBe(`${token}\n`);
});

test("processes that start together agree on one token", async () => {
  const tokens = await Promise.all(Array.from({ length: 10 }, () => ensureDrawnToken(state)));
  expect(new Set(tokens).size).toBe(1);
  expect(await readdir(state)).toEqual(["token"]);
});

test.each<[string, (path: string) => Promise<void>, RegExp]>([
  ["that others can read", (path) => chmod(path, 0o644), /may be read by others \(mode 644\)/],
  ["that is empty", (path) => writeFile(path, ""), /holds no token/],
  ["that is a link", async (path) => replaceByLink(path), /symbolic link/],
])("a file %s is refused, and the message says what to do", async (_, spoil, words) => {
  await ensureDrawnToken(state);
  await spoil(drawnTokenPath(state));
  await expect(ensureDrawnToken(state)).rejects.toThrow(words);
});

async function replaceByLink(path: string): Promise<void> {
  await rm(path);
  await symlink("/etc/hostname", path);
}
