import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { JobSpec } from "../../../src/domain/adapter.ts";
import { unlessCode, writeOnce, writeWhole } from "./atomic-file.ts";
import { jobFiles } from "./job-files.ts";
import { type JobLayout, layoutAt } from "./job-layout.ts";

/** Begins the name of a directory that is still being filled. */
const UNFINISHED = ".new-";
const UNFINISHED_MAX_AGE_MS = 3_600_000;

export type Acceptance = {
  readonly layout: JobLayout;
  readonly spec: JobSpec;
  readonly attempt: number;
  /** What `attempt.<n>` says. It is the moment of acceptance: from then on the attempt exists. */
  readonly attemptText: string;
  readonly signal: AbortSignal;
};

/**
 * Writes the job's directory and the attempt into it. A new directory appears whole by one rename; one that is there
 * (another submit's, or a bare one that holds a seized claim) keeps what it has and gets what it lacks.
 */
export async function acceptAttempt(acceptance: Acceptance): Promise<void> {
  const { layout, spec, attempt, attemptText, signal } = acceptance;
  if (!(await isJobDirectory(layout)) && (await createWhole(acceptance))) return;
  if (!(await exists(layout.spec))) {
    await mkdir(layout.input, { recursive: true, mode: 0o700 });
    await fill(layout, spec);
  }
  signal.throwIfAborted();
  await writeOnce(layout.attempt(attempt), attemptText);
}

/** A bare directory for a claim that must stand before any attempt was written. */
export async function ensureBareDirectory(layout: JobLayout): Promise<void> {
  if (await isJobDirectory(layout)) return;
  await mkdir(layout.own, { recursive: true, mode: 0o700 });
}

/** False: nothing of that name. Throws when something else than a directory has the name. */
export async function isJobDirectory(layout: JobLayout): Promise<boolean> {
  const found = await unlessCode(["ENOENT"], null, () => lstat(layout.root));
  if (found === null) return false;
  if (!found.isDirectory()) throw new Error(`${layout.root} is not a directory`);
  return true;
}

/** Removes what submits that were killed left half-written. */
export async function removeUnfinished(workdir: string, nowMs: number): Promise<void> {
  for (const name of await unlessCode(["ENOENT"], [], () => readdir(workdir))) {
    if (!name.startsWith(UNFINISHED)) continue;
    const path = join(workdir, name);
    const found = await unlessCode(["ENOENT"], null, () => stat(path));
    if (found !== null && nowMs - found.mtimeMs > UNFINISHED_MAX_AGE_MS)
      await rm(path, { recursive: true, force: true });
  }
}

async function createWhole(acceptance: Acceptance): Promise<boolean> {
  const { layout, spec, attempt, attemptText, signal } = acceptance;
  const workdir = join(layout.root, "..");
  const temporary = join(workdir, `${UNFINISHED}${randomBytes(8).toString("hex")}`);
  const draft = layoutAt(temporary);
  try {
    // One by one: a recursive mkdir hides a read-only file system behind ENOENT.
    for (const path of [draft.root, draft.own, draft.input]) await mkdir(path, { mode: 0o700 });
    await fill(draft, spec);
    await writeWhole(draft.attempt(attempt), attemptText);
    signal.throwIfAborted();
    await rename(temporary, layout.root);
    return true;
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    if (await unlessCode(["ENOENT", "ENOTDIR"], false, () => isJobDirectory(layout))) return false;
    throw error;
  }
}

async function fill(layout: JobLayout, spec: JobSpec): Promise<void> {
  await unlessCode(["EEXIST"], undefined, () => mkdir(layout.work, { mode: 0o700 }));
  // Where the directory is another user's already, a link of his is not followed.
  const { O_CREAT, O_WRONLY, O_APPEND, O_NOFOLLOW } = constants;
  const flags = O_CREAT | O_WRONLY | O_APPEND | O_NOFOLLOW;
  await (await open(layout.log("messages"), flags, 0o600)).close();
  for (const file of jobFiles(spec)) await writeWhole(join(layout.own, file.name), file.text, file.mode);
}

export async function exists(path: string): Promise<boolean> {
  return (await unlessCode(["ENOENT", "ENOTDIR"], null, () => lstat(path))) !== null;
}
