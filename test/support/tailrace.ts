import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import type { JsonObject } from "../../src/domain/json.ts";
import { eventually } from "./eventually.ts";
import { removeTree } from "./remove-tree.ts";
import { QUICK } from "./world.ts";

const CLI = fileURLToPath(new URL("../../dist/src/cli.js", import.meta.url));

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** A `tailrace` command that runs. Everything it says is kept. */
export type Running = {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Whole lines of stdout as JSON, so far. */
  lines(): JsonObject[];
  ended: Promise<Ran>;
};

export type RunOptions = {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly input?: string;
};

export function startCli(args: readonly string[], options: RunOptions = {}): Running {
  const clean = { REDIS_URL: undefined, TAILRACE_REDIS_URL: undefined, TAILRACE_TOKEN: undefined };
  const child = spawn(process.execPath, [CLI, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    cwd: options.cwd ?? tmpdir(),
    env: { ...process.env, ...clean, NO_COLOR: "1", ...options.env },
  });
  child.stdin.end(options.input ?? "");
  const said = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said.stderr += text;
  });
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, ...said }));
  return {
    child,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    lines: () => parseLines(said.stdout.slice(0, said.stdout.lastIndexOf("\n") + 1)),
    ended,
  };
}

export function runCli(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return startCli(args, options).ended;
}

export function parseLines(text: string): JsonObject[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** A configuration with shell scripts as tools, a state directory, and commands on them. */
export type Site = {
  readonly dir: string;
  readonly config: string;
  readonly stateDir: string;
  /** Runs a command with this configuration and state directory. */
  run(command: string, ...args: string[]): Promise<Ran>;
  start(command: string, ...args: string[]): Running;
  /** Starts a server and waits until it is ready; it is stopped with the site. */
  serve(command: "up" | "serve" | "work", ...args: string[]): Promise<Served>;
  /** A path that no gated job has seen yet; `open` lets those that wait for it go on. */
  gate(): { readonly path: string; open(): void };
  stop(): Promise<void>;
};

export type Served = Running & { readonly ready: JsonObject; readonly url: string };

const SCRIPT = `#!/bin/sh
echo "waiting"
while [ ! -e "$TAILRACE_ARG_GATE" ]; do sleep 0.05; done
echo '{"answer": 42}' > result.json
exit "$TAILRACE_ARG_CODE"
`;

export function createSite(fields: JsonObject = {}): Site {
  const dir = mkdtempSync(join(tmpdir(), "tr-cli-"));
  const stateDir = join(dir, "state");
  const config = join(dir, "tailrace.yaml");
  const gated = {
    title: "Wait at a gate",
    description: "Waits until a file exists, then ends with the given code.",
    target: "here",
    input: { gate: { type: "string", default: "/" }, code: { type: "integer", default: 0 } },
    run: { script: SCRIPT },
    resources: { walltime: "2m" },
    outputs: ["*.json"],
  };
  const targets = { here: { scheduler: "local", maxConcurrent: 4, graceSeconds: 1 } };
  writeFileSync(config, stringify({ targets, tools: { gated }, tuning: { ...QUICK }, ...fields }));
  const servers: Running[] = [];
  let gates = 0;
  const start = (command: string, ...args: string[]) =>
    startCli([
      command,
      "--config",
      config,
      ...(command === "validate" ? [] : ["--state-dir", stateDir]),
      ...args,
    ]);
  return {
    dir,
    config,
    stateDir,
    start,
    run: (command, ...args) => start(command, ...args).ended,
    async serve(command, ...args) {
      const running = start(command, "--ready-json", ...args);
      servers.push(running);
      const ready = await readyLine(running);
      return { ...running, ready, url: String(ready["url"]) };
    },
    gate() {
      gates += 1;
      const path = join(dir, `gate-${gates}`);
      return { path, open: () => writeFileSync(path, "") };
    },
    async stop() {
      for (const server of servers) await stopServer(server);
      removeTree(dir);
    },
  };
}

export async function stopServer(
  { child, ended }: Running,
  signal: NodeJS.Signals = "SIGTERM",
): Promise<Ran> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  return await ended;
}

async function readyLine(running: Running): Promise<JsonObject> {
  return await eventually(() => {
    const [line] = running.lines();
    if (line !== undefined) return line;
    const { exitCode } = running.child;
    throw new Error(`not ready, exit code ${exitCode}: ${running.stdout()}${running.stderr()}`);
  }, 20_000);
}
