import { readdir } from "node:fs/promises";
import { z } from "zod";
import type { JobSpec } from "../../../src/domain/adapter.ts";
import { unlessCode } from "./atomic-file.ts";
import { specProblem } from "./check-spec.ts";
import { readClaim, takeClaim } from "./claim.ts";
import { parseGlobs } from "./globs.ts";
import { ensureBareDirectory } from "./job-directory.ts";
import type { JobLayout } from "./job-layout.ts";
import { readSmall } from "./read-small.ts";

/** `attempt.<n>` of any scheduler: says that the attempt was accepted, and what its job was given. */
export const AttemptRecord = z.object({
  attempt: z.number().int(),
  cpus: z.number(),
  walltimeSeconds: z.number(),
});
export type AttemptRecord = z.infer<typeof AttemptRecord>;

/** Null when the attempt was never accepted. */
export async function readAttemptAs<T>(
  layout: JobLayout,
  attempt: number,
  schema: z.ZodType<T>,
): Promise<T | null> {
  const text = await readSmall(layout, layout.attempt(attempt));
  return text === null ? null : schema.parse(JSON.parse(text));
}

/** Numbers of the accepted attempts, the newest first. */
export async function listAttempts(layout: JobLayout): Promise<number[]> {
  const names = await unlessCode(["ENOENT", "ENOTDIR"], [], () => readdir(layout.own));
  return names
    .map((name) => /^attempt\.([1-9]\d*)$/.exec(name)?.[1])
    .filter((attempt) => attempt !== undefined)
    .map(Number)
    .sort((a, b) => b - a);
}

/**
 * Takes the claims of all attempts before this one, so that two submits of one mark with different numbers cannot both
 * run. The number of an earlier attempt that holds its claim, which is then the job, or null.
 */
export async function giveUpEarlier(
  layout: JobLayout,
  attempt: number,
  atMs: number,
): Promise<number | null> {
  if (attempt > 1) await ensureBareDirectory(layout);
  for (let earlier = 1; earlier < attempt; earlier++) {
    if (await takeClaim(layout, earlier, { kind: "seized", atMs })) continue;
    if ((await readClaim(layout, earlier))?.kind !== "seized") return earlier;
  }
  return null;
}

/** Why no target would ever take this spec, or null. */
export function whyNever(spec: JobSpec): string | null {
  try {
    parseGlobs(spec.outputs);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return specProblem(spec);
}
