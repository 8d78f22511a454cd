import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Collected, CollectRequest, LogChunk, LogRequest } from "../../../src/domain/adapter.ts";
import type { Json } from "../../../src/domain/json.ts";
import { errorCode, unlessCode, writeWhole } from "../shared/atomic-file.ts";
import { collectOutputs } from "../shared/collect.ts";
import { exists } from "../shared/job-directory.ts";
import { inputFileName } from "../shared/job-layout.ts";
import { readLog } from "../shared/log-reader.ts";
import type { LocalJob } from "./room.ts";

/** A log that cannot be read now answers as one with nothing new: one bad file must not hold up the others. */
export async function readLogsOf(job: LocalJob | null, request: LogRequest): Promise<LogChunk> {
  const { cursor, maxBytes, source } = request;
  const nothing = { bytes: new Uint8Array(), cursor, atEnd: true, restarted: false };
  if (job === null) return nothing;
  try {
    return await readLog({ path: job.layout.log(source), cursor, maxBytes });
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return nothing;
  }
}

/** Writes `.tailrace/input/<key>.json`, whole; the same value again leaves the file as it is. */
export async function deliverTo(job: LocalJob | null, key: string, value: Json): Promise<void> {
  if (job === null || !(await exists(job.layout.own))) throw new Error("the job has no directory here");
  const path = join(job.layout.input, inputFileName(key));
  const text = `${JSON.stringify(value)}\n`;
  await mkdir(job.layout.input, { recursive: true, mode: 0o700 });
  if ((await unlessCode(["ENOENT"], null, () => readFile(path, "utf8"))) === text) return;
  await writeWhole(path, text);
}

export async function collectFrom(
  job: LocalJob | null,
  request: CollectRequest,
  signal: AbortSignal,
): Promise<Collected> {
  if (job === null || !(await exists(job.layout.work))) {
    const skipped = [{ name: "", reason: "the work directory is gone" }];
    return { artifacts: [], skipped, result: null, resultProblem: null };
  }
  return collectOutputs(job.layout.work, request, signal);
}
