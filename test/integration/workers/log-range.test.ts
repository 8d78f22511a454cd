import { appendFileSync, truncateSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readLogsOf } from "../../../adapters/schedulers/shared/job-access.ts";
import { layoutAt } from "../../../adapters/schedulers/shared/job-layout.ts";
import { readLogRange } from "../../../workers/log-range.ts";
import { NEVER, scriptSpec } from "../../support/jobs.ts";
import { type WrapperBench, wrapperBench } from "../../support/wrapper-bench.ts";

let bench: WrapperBench;
beforeEach(async () => {
  bench = wrapperBench();
  // Two lives; the first was ended in the middle of a character.
  bench.prepare(scriptSpec("#!/bin/sh\nprintf 'life \\303'\n"));
  for (const requeues of [0, 1]) await bench.runToEnd(["sh"], { identity: "slurm:7", requeues });
});
afterEach(() => bench.remove());

async function range(offset: number, maxBytes: number): Promise<[text: string, atEnd: boolean]> {
  const { bytes, atEnd } = await readLogRange(
    {
      readLogs: (requests) =>
        Promise.all(requests.map((request) => readLogsOf(layoutAt(bench.root), request))),
    },
    { job: { id: "7", mark: "m", attempt: 1 }, source: "stdout", offset, maxBytes },
    NEVER,
  );
  return [Buffer.from(bytes).toString("latin1"), atEnd];
}

test("a range goes over the place where a requeued job began again, and may begin just there", async () => {
  expect(await range(0, 100)).toEqual(["life \u00c3life \u00c3", true]);
  expect(await range(5, 3)).toEqual(["\u00c3li", false]);
  expect(await range(6, 100)).toEqual(["life \u00c3", true]);
  expect(await range(0, 6)).toEqual(["life \u00c3", false]);
});

test("a range behind the end of a log, or of one that was cut, is empty and at the end", async () => {
  expect(await range(12, 10)).toEqual(["", true]);
  expect(await range(13, 10)).toEqual(["", true]);
  truncateSync(bench.own("stdout"));
  appendFileSync(bench.own("stdout"), "new");
  expect(await range(6, 10)).toEqual(["", true]);
  expect(await range(1, 10)).toEqual(["ew", true]);
});
