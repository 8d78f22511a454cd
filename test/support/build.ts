import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const LOCK = `${ROOT}node_modules/.cache/tailrace-build.lock`;
const CLI = `${ROOT}dist/src/cli.js`;

/** Vitest's global setup: `dist/` is current before any test spawns `node dist/src/cli.js`. */
export async function setup(): Promise<void> {
  mkdirSync(`${ROOT}node_modules/.cache`, { recursive: true });
  if (!tryLock()) {
    await waitForOtherBuild();
    return;
  }
  try {
    build();
  } finally {
    rmSync(LOCK, { force: true });
  }
}

function build(): void {
  const tsc = spawnSync(process.execPath, [`${ROOT}node_modules/typescript/bin/tsc`], {
    cwd: ROOT,
    encoding: "utf8",
    timeout: 120_000,
  });
  if (existsSync(CLI)) chmodSync(CLI, 0o755);
  if (tsc.status === 0) return;
  const why = `the tsc build before the tests failed:\n${tsc.stdout}${tsc.stderr}${tsc.error ?? ""}`;
  // On a desk a half-written file elsewhere should not stop a unit test; `npm run typecheck` still fails.
  if (process.env["CI"]) throw new Error(why);
  process.stderr.write(`${why}\n`);
}

function tryLock(): boolean {
  if (existsSync(LOCK) && !isAlive(Number(readFileSync(LOCK, "utf8")))) rmSync(LOCK, { force: true });
  try {
    writeFileSync(LOCK, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function waitForOtherBuild(): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (existsSync(LOCK) && Date.now() < deadline) await delay(100);
}

function isAlive(pid: number): boolean {
  // An empty lock belongs to a process that is just about to write its pid.
  if (pid === 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // no such process: the lock is left over from a killed run
  }
}
