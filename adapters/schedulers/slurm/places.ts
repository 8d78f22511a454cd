import type { JobRef } from "../../../src/domain/adapter.ts";
import { unlessCode } from "../shared/atomic-file.ts";
import { type JobLayout, jobLayout } from "../shared/job-layout.ts";
import { markTail } from "../shared/mark.ts";
import { openInside } from "../shared/open-inside.ts";
import { commentOf } from "./commands.ts";
import type { SlurmRoom } from "./room.ts";

/** One job of ours. */
export type SlurmJob = { readonly ref: JobRef; readonly layout: JobLayout };

/** Null when the reference is not one that this target could have given out. */
export function findJob(room: SlurmRoom, ref: JobRef): SlurmJob | null {
  if (markTail(ref.mark, room.instance) === null || !isJobId(ref.id)) return null;
  return { ref, layout: jobLayout(room.workdir, ref.mark) };
}

/** Slurm gives out ids up to MaxJobId, 67,043,328 by default. */
function isJobId(id: string): boolean {
  return /^[1-9]\d{0,9}$/.test(id);
}

type Carrier = {
  readonly name: string;
  readonly user: string;
  readonly comment?: string | null;
  readonly workDir?: string | null;
};

/**
 * True for a batch job that carries the mark and runs under a user of ours. An id alone proves nothing: a controller
 * that crashed gives ids out again. Where its work directory is told, that alone decides: name and comment may have been
 * changed by its owner or an administrator, and a job of another directory can never run what we wrote.
 */
export function carriesMark(room: SlurmRoom, row: Carrier, mark: string): boolean {
  if (!room.users.names.includes(row.user)) return false;
  if (row.workDir != null) return row.workDir === jobLayout(room.workdir, mark).work;
  return row.name === mark || (row.comment ?? "").startsWith(commentOf(mark, 0).slice(0, -1));
}

/** What the wrapper of that attempt said when it could not begin, or null. */
export async function readProblem(layout: JobLayout, attempt: number): Promise<string | null> {
  const text = (await readTail(layout, layout.problem(attempt))).trim();
  return text === "" ? null : text.slice(0, MAX_PROBLEM);
}

/** The end of what Slurm, the modules and the preamble said beside `problem`, on one line; null when that is nothing. */
export async function readLastWords(layout: JobLayout, problem: string | null): Promise<string | null> {
  const lines = (await readTail(layout, layout.slurmOut)).split("\n").map((line) => line.trim());
  const text = lines.filter((line) => line !== "" && line !== problem).join("; ");
  return text === "" ? null : text.slice(-MAX_WORDS);
}

const MAX_PROBLEM = 500;
const MAX_WORDS = 300;
const TAIL_BYTES = 4096;

/** The job's user may write here: a link is not followed. A file that is not there reads as empty. */
async function readTail(layout: JobLayout, path: string): Promise<string> {
  const file = await unlessCode(["ENOENT", "ENOTDIR"], null, () => openInside(layout.root, path));
  if (file === null || "refused" in file) return "";
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, from);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
