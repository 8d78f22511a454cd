import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readLog } from "../../../adapters/schedulers/shared/log-reader.ts";
import type { LogChunk, LogCursor } from "../../../src/domain/adapter.ts";
import { type TestDirectory, testDirectory } from "../../support/jobs.ts";

let directory: TestDirectory;
let path: string;
beforeEach(() => {
  directory = testDirectory();
  path = join(directory.path, "stdout");
});
afterEach(() => directory.remove());

const read = (cursor: LogCursor | null, maxBytes = 1000) => readLog({ path, cursor, maxBytes });
const text = (chunk: LogChunk) => Buffer.from(chunk.bytes).toString();

test("a log that is not there yet reads as empty, and its cursor stays null", async () => {
  expect(await read(null)).toEqual({ bytes: new Uint8Array(), cursor: null, atEnd: true, restarted: false });
});

test("each read goes on where the last one stopped, and no more than asked for comes at once", async () => {
  writeFileSync(path, "abcdef");
  const first = await read(null, 4);
  expect([text(first), first.atEnd, first.cursor?.offset]).toEqual(["abcd", false, 4]);
  const second = await read(first.cursor, 4);
  expect([text(second), second.atEnd]).toEqual(["ef", true]);
  appendFileSync(path, "gh");
  expect(text(await read(second.cursor))).toBe("gh");
  expect((await read(first.cursor, 0)).cursor).toEqual(first.cursor);
});

test("a log that was cut is read from its start, and says so once", async () => {
  writeFileSync(path, "old lines\n");
  const before = await read(null);
  truncateSync(path);
  appendFileSync(path, "new\n");
  const after = await read(before.cursor);
  expect([text(after), after.restarted, after.cursor?.offset, after.cursor?.total]).toEqual([
    "new\n",
    true,
    4,
    14,
  ]);
  expect((await read(after.cursor)).restarted).toBe(false);
});

test("after a rotation the old file is read to its end first, then the new one", async () => {
  writeFileSync(path, "one\n");
  const first = await read(null);
  appendFileSync(path, "two\n");
  renameSync(path, `${path}.1`);
  writeFileSync(path, "three\n");
  const second = await read(first.cursor);
  expect([text(second), second.restarted, second.atEnd]).toEqual(["two\n", false, false]);
  const third = await read(second.cursor);
  expect([text(third), third.restarted, third.cursor?.total]).toEqual(["three\n", true, 14]);
});

test("a rotated log with nothing in its place yet is still read to its end", async () => {
  writeFileSync(path, "one\n");
  const first = await read(null);
  appendFileSync(path, "two\n");
  renameSync(path, `${path}.1`);
  const second = await read(first.cursor);
  expect(text(second)).toBe("two\n");
  expect(await read(second.cursor)).toMatchObject({ cursor: second.cursor, atEnd: true });
});

test("a log that was replaced for good is read from the new one's start", async () => {
  writeFileSync(path, "one\n");
  const first = await read(null);
  writeFileSync(`${path}x`, "keeps the inode from being used again");
  renameSync(`${path}x`, path);
  expect(await read(first.cursor)).toMatchObject({ restarted: true });
});

test("a link, a FIFO and a directory in the log's place read as empty, at once", async () => {
  const secret = join(directory.path, "secret");
  writeFileSync(secret, "secret");
  symlinkSync(secret, path);
  expect(text(await read(null))).toBe("");
  rmSync(path);
  spawnSync("mkfifo", [path]);
  expect(text(await read(null))).toBe("");
  rmSync(path);
  mkdirSync(path);
  expect(text(await read(null))).toBe("");
});

test("bytes joined over reads of any size equal the file", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
      fc.integer({ min: 1, max: 50 }),
      async (writes, maxBytes) => {
        rmSync(path, { force: true });
        const parts: Uint8Array[] = [];
        let cursor: LogCursor | null = null;
        for (const bytes of [...writes, new Uint8Array()]) {
          appendFileSync(path, bytes);
          for (let isAtEnd = false; !isAtEnd; ) {
            const chunk: LogChunk = await read(cursor, maxBytes);
            parts.push(chunk.bytes);
            cursor = chunk.cursor;
            isAtEnd = chunk.atEnd;
          }
        }
        expect(Buffer.concat(parts)).toEqual(Buffer.concat(writes));
      },
    ),
    { numRuns: 50 },
  );
});
