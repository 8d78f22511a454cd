import { join } from "node:path";
import { z } from "zod";
import type { JobRef } from "../../../src/domain/adapter.ts";
import { readAttemptAs, AttemptRecord as SharedRecord } from "../shared/attempts.ts";
import { type JobLayout, jobLayout } from "../shared/job-layout.ts";
import { markTail } from "../shared/mark.ts";

export type LocalDeps = {
  /** ms since the epoch. */
  readonly now: () => number;
  /** Awaited at named moments of a submit; a fault test ends the process there. */
  readonly reached?: (moment: "accepted" | "lined_up") => Promise<void>;
};

/** What the parts of the local scheduler share. */
export type LocalRoom = {
  /** The target's name, for messages. */
  readonly target: string;
  readonly instance: string;
  /** Absolute and real: no link in it. */
  readonly workdir: string;
  readonly maxConcurrent: number;
  readonly graceSeconds: number;
  readonly hostname: string;
  readonly bootId: string;
  /** ms since the epoch. */
  readonly now: () => number;
};

/** `attempt.<n>` with the job's place in the line. */
const AttemptRecord = SharedRecord.extend({ order: z.string().regex(/^\d{15}$/) });
export type AttemptRecord = z.infer<typeof AttemptRecord>;

/** One job of ours. */
export type LocalJob = { readonly ref: JobRef; readonly layout: JobLayout };

export function refOf(room: LocalRoom, mark: string, attempt: number): JobRef {
  return { id: `${markTail(mark, room.instance)}.${attempt}`, mark, attempt };
}

/** Null when the reference is not one that this target could have given out. */
export function findJob(room: LocalRoom, ref: JobRef): LocalJob | null {
  const tail = markTail(ref.mark, room.instance);
  if (tail === null || ref.id !== `${tail}.${ref.attempt}`) return null;
  return { ref, layout: jobLayout(room.workdir, ref.mark) };
}

/** Null when the attempt was never accepted. */
export function readAttempt(layout: JobLayout, attempt: number): Promise<AttemptRecord | null> {
  return readAttemptAs(layout, attempt, AttemptRecord);
}

export function queueDirectory(room: LocalRoom): string {
  return join(room.workdir, ".queue");
}

export function slotDirectory(room: LocalRoom): string {
  return join(room.workdir, ".slots");
}
