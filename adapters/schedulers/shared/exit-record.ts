import { readdir } from "node:fs/promises";
import { z } from "zod";
import type { JobEnd } from "../../../src/domain/adapter.ts";
import { unlessCode } from "./atomic-file.ts";
import type { JobLayout } from "./job-layout.ts";
import { readSmall } from "./read-small.ts";

/** Records of wrappers that were told no count lack it: then the life's own number is the count. */
const requeues = z.number().int().nonnegative().optional();

function counted<T extends { life: number; requeues?: number | undefined }>(
  record: T,
): T & { requeues: number } {
  return { ...record, requeues: record.requeues ?? record.life };
}

const size = z.number().int().nonnegative();

/** `life.<n>.json`: one start of the wrapper. `script` is null until the script has been started. */
export const LifeRecord = z
  .object({
    life: z.number().int(),
    /** The scheduler's count of requeues when this life began. */
    requeues,
    attempt: z.number().int(),
    identity: z.string(),
    host: z.string(),
    startedAtMs: z.number(),
    /** Bytes that each log held before the script began. Null: the record does not tell. */
    from: z.object({ stdout: size, stderr: size, messages: size }).nullable().default(null),
    script: z.object({ pid: z.number().int(), ticks: z.string() }).nullable(),
  })
  .transform(counted);
export type LifeRecord = z.infer<typeof LifeRecord>;

/** `exit.<life>.json`: what the wrapper says about the end. Times in ms since the epoch by the node's clock. */
export const ExitRecord = z
  .object({
    identity: z.string(),
    attempt: z.number().int(),
    life: z.number().int(),
    requeues,
    started: z.boolean(),
    /** As the shell tells it; 128 + n stands for signal n, and then `signal` is n. */
    exitCode: z.number().int().nullable(),
    signal: z.number().int().nullable(),
    termAtMs: z.number().nullable(),
    timedOut: z.boolean(),
    startedAtMs: z.number(),
    endedAtMs: z.number(),
    stdoutBytes: z.number(),
    stderrBytes: z.number(),
    host: z.string(),
    signals: z.array(z.object({ name: z.string(), atMs: z.number() })),
  })
  .transform(counted);
export type ExitRecord = z.infer<typeof ExitRecord>;

/** Null for room that was taken and not yet written, for a half-written record, and for anything else. */
export function parseExitRecord(text: string): ExitRecord | null {
  return parseWith(ExitRecord, text);
}

export function parseLifeRecord(text: string): LifeRecord | null {
  return parseWith(LifeRecord, text);
}

function parseWith<T>(schema: z.ZodType<T>, text: string): T | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null; // blanks: the record is still to come
  }
  return schema.safeParse(value).data ?? null;
}

/** The newest life that this identity began, or null. */
export async function readNewestLife(layout: JobLayout, identity: string): Promise<LifeRecord | null> {
  const names = await unlessCode(["ENOENT", "ENOTDIR"], [], () => readdir(layout.own));
  const lives = names
    .map((name) => /^life\.(\d+)\.json$/.exec(name)?.[1])
    .filter((life) => life !== undefined)
    .map(Number)
    .sort((a, b) => b - a);
  for (const life of lives) {
    const record = await readRecord(layout, layout.life(life), parseLifeRecord);
    if (record?.identity === identity) return record;
  }
  return null;
}

/** What life `life` says of itself; null while it says nothing, `missing` when there was no such life. */
export async function readLife(layout: JobLayout, life: number): Promise<LifeRecord | null | "missing"> {
  const text = await readSmall(layout, layout.life(life));
  return text === null ? "missing" : parseLifeRecord(text);
}

/** The exit record of that life, or null while there is none. A record of another job or life is no witness. */
export async function readExit(layout: JobLayout, life: LifeRecord): Promise<ExitRecord | null> {
  const record = await readRecord(layout, layout.exit(life.life), parseExitRecord);
  return record?.identity === life.identity && record.life === life.life ? record : null;
}

async function readRecord<T>(
  layout: JobLayout,
  path: string,
  parse: (text: string) => T | null,
): Promise<T | null> {
  const text = await readSmall(layout, path);
  return text === null ? null : parse(text);
}

/** The end as the exit record tells it. `cpus` are those the job was given. */
export function endOfExit(record: ExitRecord, cpus: number): JobEnd {
  const wallSeconds = Math.max(0, record.endedAtMs - record.startedAtMs) / 1000;
  return {
    kind: record.timedOut ? "timeout" : record.signal === null ? "exited" : "signalled",
    exitCode: record.signal === null ? record.exitCode : null,
    signal: record.signal,
    reason: reasonOf(record),
    started: record.started,
    startedAtMs: record.started ? record.startedAtMs : null,
    endedAtMs: record.endedAtMs,
    termAtMs: record.termAtMs,
    node: record.host,
    requeues: record.requeues,
    coreSeconds: record.started ? wallSeconds * cpus : 0,
    bytes: { stdout: record.stdoutBytes, stderr: record.stderrBytes },
    witness: "exit_record",
    settled: true,
  };
}

function reasonOf(record: ExitRecord): string | null {
  if (record.timedOut) return "it ran into its walltime";
  if (!record.started) return "it was stopped before its script began";
  if (record.signal !== null) return `exit status ${record.exitCode} (128 + signal ${record.signal})`;
  return null;
}
