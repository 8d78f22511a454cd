import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { removeTree } from "./remove-tree.ts";

export const EXAMPLE = fileURLToPath(new URL("../../examples/cavity/", import.meta.url));

export type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type Running = {
  readonly child: ChildProcess;
  /** Resolves once the log has this many steps; rejects when the program ends before. */
  steps(count: number): Promise<void>;
  readonly ended: Promise<Ended>;
};

export type RunOptions = { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string };

/** Starts a program with an environment of its own, so that nothing of the test's leaks into it. */
export function start(command: string, argv: readonly string[], options: RunOptions = {}): Running {
  const env = { PATH: process.env["PATH"] ?? "", ...options.env };
  const child = spawn(command, argv, { stdio: ["ignore", "pipe", "pipe"], ...options, env });
  const said = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said.stdout += text;
    child.emit("said");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said.stderr += text;
  });
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, ...said }));
  return {
    child,
    ended,
    async steps(count) {
      const over = ended.then(({ stderr }) => Promise.reject(new Error(`it ended too early: ${stderr}`)));
      // Only of interest while somebody waits for steps.
      over.catch(() => undefined);
      while (said.stdout.split("\nTime = ").length <= count) await Promise.race([once(child, "said"), over]);
    },
  };
}

export function startSolver(argv: readonly string[], options: RunOptions = {}): Running {
  return start(process.execPath, [join(EXAMPLE, "solver.mjs"), ...argv], options);
}

export function solve(argv: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return startSolver(argv, options).ended;
}

/** A folder that goes when the test has ended. */
export function temporaryFolder(onTestFinished: (remove: () => void) => void): string {
  const folder = mkdtempSync(join(tmpdir(), "tr-cavity-"));
  onTestFinished(() => removeTree(folder));
  return folder;
}

export function readText(folder: string, name: string): string {
  return readFileSync(join(folder, name), "utf8");
}

export function readResult(folder: string): Record<string, unknown> {
  return JSON.parse(readText(folder, "result.json"));
}
