import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Collected, CollectRequest, LogChunk, LogRequest } from "../../../src/domain/adapter.ts";
import type { Json } from "../../../src/domain/json.ts";
import { errorCode, unlessCode, writeOnce, writeWhole } from "./atomic-file.ts";
import { collectOutputs } from "./collect.ts";
import { exists } from "./job-directory.ts";
import { inputFileName, type JobLayout } from "./job-layout.ts";
import { readJobLog } from "./job-log.ts";

/** A log that cannot be read now answers as one with nothing new: one bad file must not hold up the others. */
export async function readLogsOf(layout: JobLayout | null, request: LogRequest): Promise<LogChunk> {
  const nothing = { bytes: new Uint8Array(), cursor: request.cursor, atEnd: true, restarted: false };
  if (layout === null) return nothing;
  try {
    return await readJobLog(layout, request);
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return nothing;
  }
}

/** Writes `.tailrace/input/<key>.json`, whole; the same value again leaves the file as it is. */
export async function deliverTo(layout: JobLayout | null, key: string, value: Json): Promise<void> {
  if (layout === null || !(await exists(layout.own))) throw new Error("the job has no directory here");
  const path = join(layout.input, inputFileName(key));
  const text = `${JSON.stringify(value)}\n`;
  await mkdir(layout.input, { recursive: true, mode: 0o700 });
  if ((await unlessCode(["ENOENT"], null, () => readFile(path, "utf8"))) === text) return;
  await writeWhole(path, text);
}

/** The wrapper of a job whose directory holds `.tailrace/closed` leaves before it begins a life. */
export async function closeFor(layout: JobLayout | null): Promise<void> {
  if (layout !== null && (await exists(layout.own))) await writeOnce(layout.closed, "");
}

export async function collectFrom(
  layout: JobLayout | null,
  request: CollectRequest,
  signal: AbortSignal,
): Promise<Collected> {
  if (layout === null || !(await exists(layout.work))) {
    const skipped = [{ name: "", reason: "the work directory is gone" }];
    return { artifacts: [], skipped, result: null, resultProblem: null };
  }
  return collectOutputs(layout.work, request, signal);
}
