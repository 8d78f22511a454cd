import { randomBytes } from "node:crypto";
import { readFile, rm, stat, statfs } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { CheckLine } from "../../../src/domain/adapter.ts";
import { writeOnce } from "../shared/atomic-file.ts";
import { run } from "../shared/command-runner.ts";
import type { LocalRoom } from "./room.ts";

const LOW_SPACE_BYTES = 1024 ** 3;

/** What doctor shows for a local target. */
export async function checkMachine(room: LocalRoom, signal: AbortSignal): Promise<CheckLine[]> {
  return [
    await checkWorkdir(room),
    await checkCommand(
      "flock",
      "install util-linux (or busybox): it keeps the number of running jobs",
      signal,
    ),
    await checkCommand(
      "setsid",
      "install util-linux (or busybox): it lets a cancel reach all of a job",
      signal,
    ),
    await checkProc(),
    await checkSpace(room),
    checkSlots(room),
  ];
}

async function checkWorkdir(room: LocalRoom): Promise<CheckLine> {
  const what = `job directory ${room.workdir}`;
  const probe = join(room.workdir, `.probe-${randomBytes(6).toString("hex")}`);
  try {
    await writeOnce(probe, "x");
    await rm(probe, { force: true });
    const { mode } = await stat(room.workdir);
    if ((mode & 0o022) !== 0)
      return {
        what,
        ok: false,
        found: "others may write to it",
        advice: `chmod go-w ${room.workdir}: whoever can write there can swap a job's files`,
      };
    return { what, ok: true, found: "writable, with hard links", advice: null };
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return {
      what,
      ok: false,
      found,
      advice: "set workdir to a writable directory on a file system with hard links",
    };
  }
}

async function checkCommand(name: string, advice: string, signal: AbortSignal): Promise<CheckLine> {
  const look = ["sh", "-c", 'command -v "$1"', "sh", name];
  const { exitCode, stdout } = await run(look, { timeoutMs: 5000, signal, maxBytes: 10_000 });
  const ok = exitCode === 0;
  return {
    what: `the ${name} command`,
    ok,
    found: ok ? stdout.trim() : "not on PATH",
    advice: ok ? null : advice,
  };
}

async function checkProc(): Promise<CheckLine> {
  const what = "/proc";
  try {
    await readFile("/proc/self/environ");
    await readFile("/proc/sys/kernel/random/boot_id");
    return { what, ok: true, found: "readable", advice: null };
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return {
      what,
      ok: false,
      found,
      advice: "mount /proc: without it the end of a killed job cannot be proved",
    };
  }
}

async function checkSpace(room: LocalRoom): Promise<CheckLine> {
  const what = `free space in ${room.workdir}`;
  try {
    const { bavail, bsize } = await statfs(room.workdir);
    const free = bavail * bsize;
    const ok = free >= LOW_SPACE_BYTES;
    return {
      what,
      ok,
      found: `${(free / 1024 ** 3).toFixed(1)} GiB`,
      advice: ok ? null : "jobs write logs and results here: make room or move workdir",
    };
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return { what, ok: false, found, advice: "create the directory" };
  }
}

function checkSlots(room: LocalRoom): CheckLine {
  const cpus = availableParallelism();
  const fits = room.maxConcurrent <= cpus;
  return {
    what: "jobs at the same time",
    // Jobs that mostly wait may well be more than the CPUs: advice, not a fault.
    ok: true,
    found: `maxConcurrent ${room.maxConcurrent}, ${cpus} CPUs`,
    advice: fits ? null : "with more jobs than CPUs, solvers slow each other down: lower maxConcurrent",
  };
}
