import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readLogsOf } from "../../../adapters/schedulers/shared/job-access.ts";
import { layoutAt } from "../../../adapters/schedulers/shared/job-layout.ts";
import { readJobLog } from "../../../adapters/schedulers/shared/job-log.ts";
import { LogCursor, type LogSource } from "../../../src/domain/adapter.ts";
import { scriptSpec } from "../../support/jobs.ts";
import { type WrapperBench, wrapperBench } from "../../support/wrapper-bench.ts";

let bench: WrapperBench;
beforeEach(() => {
  bench = wrapperBench();
});
afterEach(() => bench.remove());

type Segment = { text: string; from: number };
type Progress = { cursor: LogCursor | null; segments: Segment[] };

const START: Progress = { cursor: null, segments: [] };

/** Reads to the end of what is there, with a cursor that went through JSON each time, as a new process would. */
async function readOn(
  before: Progress,
  { source = "stdout", maxBytes = 1000 }: { source?: LogSource; maxBytes?: number } = {},
): Promise<Progress> {
  let { cursor } = before;
  const segments = before.segments.map((one) => ({ ...one }));
  for (;;) {
    const chunk = await readJobLog(layoutAt(bench.root), { source, cursor, maxBytes });
    const text = Buffer.from(chunk.bytes).toString("latin1");
    const from = cursor?.total ?? 0;
    const current = segments.at(-1);
    if (chunk.restarted || (current === undefined && text !== "")) segments.push({ text, from });
    else if (current !== undefined) current.text += text;
    cursor = chunk.cursor === null ? null : LogCursor.parse(JSON.parse(JSON.stringify(chunk.cursor)));
    expect(cursor?.total ?? 0).toBe(segments.reduce((sum, one) => sum + one.text.length, 0));
    if (chunk.atEnd) return { cursor, segments };
  }
}

function script(line: string): string {
  return `#!/bin/sh\nprintf '${line}'; printf 'e-${line}' >&2; echo 'm-${line}' >> "$TAILRACE_MESSAGES"\n`;
}

async function runLives(...lines: string[]): Promise<void> {
  for (const [life, line] of lines.entries()) {
    if (life === 0) bench.prepare(scriptSpec(script(line)));
    else writeFileSync(bench.own("script"), script(line));
    await bench.runToEnd(["sh"], { identity: "slurm:7", requeues: life });
  }
}

test.each([1, 2, 3, 5, 1000])(
  "each life of a requeued job is a segment of each log, read %i bytes at a time",
  async (maxBytes) => {
    await runLives("first", "second", "third");
    const read = async (source: LogSource) =>
      (await readOn(START, { source, maxBytes })).segments.map((one) => one.text);
    expect(await read("stdout")).toEqual(["first", "second", "third"]);
    expect(await read("stderr")).toEqual(["e-first", "e-second", "e-third"]);
    expect(await read("messages")).toEqual(["m-first\n", "m-second\n", "m-third\n"]);
    const { cursor } = await readOn(START, { maxBytes });
    expect(cursor).toMatchObject({ offset: 16, total: 16 });
  },
);

test("a life that begins where a reader has stopped is told by the next read, once", async () => {
  await runLives("first");
  const before = await readOn(START);
  expect(before.segments).toEqual([{ text: "first", from: 0 }]);
  await bench.runToEnd(["sh"], { identity: "slurm:7", requeues: 1 });
  const after = await readOn(before);
  expect(after.segments.map((one) => one.text)).toEqual(["first", "first"]);
  appendFileSync(bench.own("stdout"), "more");
  expect((await readOn(after)).segments.map((one) => one.text)).toEqual(["first", "firstmore"]);
});

test("nothing is told of a new life before it has written something", async () => {
  await runLives("first");
  writeFileSync(bench.own("script"), "#!/bin/sh\ntrue\n");
  await bench.runToEnd(["sh"], { identity: "slurm:7", requeues: 1 });
  const silent = await readOn(START);
  expect(silent.segments).toHaveLength(1);
  expect(
    await readJobLog(layoutAt(bench.root), { source: "stdout", cursor: silent.cursor, maxBytes: 9 }),
  ).toMatchObject({ restarted: false, atEnd: true, cursor: silent.cursor });
});

test("lives before the first byte start nothing anew, and lives that wrote nothing start one thing together", async () => {
  bench.prepare(scriptSpec("#!/bin/sh\ntrue\n"));
  for (const requeues of [0, 1]) await bench.runToEnd(["sh"], { requeues });
  appendFileSync(bench.own("stdout"), "one");
  for (const requeues of [2, 3]) await bench.runToEnd(["sh"], { requeues });
  appendFileSync(bench.own("stdout"), "two");
  expect((await readOn(START)).segments.map((one) => one.text)).toEqual(["one", "two"]);
});

test("a life record that tells no sizes, or is still blank, leaves the log in one piece", async () => {
  await runLives("first", "second", "third");
  const record = JSON.parse(readFileSync(bench.own("life.1.json"), "utf8"));
  writeFileSync(bench.own("life.1.json"), JSON.stringify({ ...record, from: undefined }));
  expect((await readOn(START)).segments.map((one) => one.text)).toEqual(["firstsecond", "third"]);
  writeFileSync(bench.own("life.2.json"), " ".repeat(4096));
  expect((await readOn(START)).segments.map((one) => one.text)).toEqual(["firstsecondthird"]);
});

test("a log that was renamed is read to its end without the lives of the one in its place", async () => {
  await runLives("first line");
  const before = await readOn(START, { maxBytes: 1000 });
  appendFileSync(bench.own("stdout"), "rest of it");
  renameSync(bench.own("stdout"), bench.own("stdout.1"));
  writeFileSync(bench.own("stdout"), "a new file");
  await bench.runToEnd(["sh"], { identity: "slurm:7", requeues: 1 });
  expect((await readOn(before)).segments.map((one) => one.text)).toEqual([
    "first linerest of it",
    "a new file",
    "first line",
  ]);
});

test("bytes of a log whose directory is gone, or of no job at all, are none", async () => {
  await runLives("first");
  const before = await readOn(START);
  rmSync(bench.root, { recursive: true });
  for (const layout of [layoutAt(bench.root), null]) {
    const job = { id: "7", mark: "m", attempt: 1 };
    const chunk = await readLogsOf(layout, { job, source: "stdout", cursor: before.cursor, maxBytes: 9 });
    expect(chunk).toEqual({ bytes: new Uint8Array(), cursor: before.cursor, atEnd: true, restarted: false });
  }
});

test("whatever lives wrote and however it is read, every byte comes once and every boundary is told", async () => {
  bench.prepare(scriptSpec("#!/bin/sh\ntrue\n"));
  const life = { attempt: 1, identity: "slurm:7", host: "c1", startedAtMs: 1, script: null };
  const check = fc.asyncProperty(
    fc.array(fc.stringMatching(/^[a-z]{0,6}$/), { minLength: 1, maxLength: 5 }),
    fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 5 }),
    async (parts, sizes) => {
      for (const name of ["stdout", "life.1.json", "life.2.json", "life.3.json", "life.4.json"])
        rmSync(bench.own(name), { force: true });
      let progress = START;
      let written = 0;
      for (const [number, part] of parts.entries()) {
        const from = { stdout: written, stderr: 0, messages: 0 };
        if (number > 0)
          writeFileSync(bench.own(`life.${number}.json`), JSON.stringify({ ...life, life: number, from }));
        appendFileSync(bench.own("stdout"), part);
        written += part.length;
        const maxBytes = sizes[number % sizes.length] ?? 1;
        if (number % 2 === 0) progress = await readOn(progress, { maxBytes });
      }
      progress = await readOn(progress, { maxBytes: sizes[0] ?? 1 });
      expect(progress.segments.map((one) => one.text)).toEqual(parts.filter((part) => part !== ""));
    },
  );
  await fc.assert(check, { numRuns: 60 });
});
