import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { removeTree } from "../support/remove-tree.ts";
import { type Figure, round } from "./report.ts";

const ROOT = new URL("../../", import.meta.url);
/** Time for start-up garbage to be collected and for a few idle ticks. */
const SETTLE_MS = 8_000;

/** Resident memory of an idle `tailrace up` against a process that only loads the three libraries, side by side. */
export async function benchIdle(): Promise<Figure> {
  const stateDir = mkdtempSync(join(tmpdir(), "tr-idle-"));
  const cli = fileURLToPath(new URL("dist/src/cli.js", ROOT));
  const config = fileURLToPath(new URL("examples/cavity/tailrace.yaml", ROOT));
  const up = run([cli, "up", "--config", config, "--state-dir", stateDir, "--port", "0", "--ready-json"]);
  const bare = run([fileURLToPath(new URL("libraries.mjs", import.meta.url))]);
  try {
    await Promise.all([up, bare].map((child) => once(child.stdout ?? child, "data")));
    await delay(SETTLE_MS);
    const [ours, theirs] = [residentMib(up), residentMib(bare)];
    return {
      what: "idle memory ÷ a process that only loads Hono, ioredis and BullMQ",
      value: ours / theirs,
      unit: "×",
      bound: 3,
      rule: "at_most",
      detail: `${round(ours)} MiB, libraries alone ${round(theirs)} MiB`,
    };
  } finally {
    for (const child of [up, bare]) {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
    }
    removeTree(stateDir);
  }
}

function run(argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, [...argv], { stdio: ["ignore", "pipe", "ignore"] });
}

function residentMib(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
