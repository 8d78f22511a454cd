import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const CLI = fileURLToPath(new URL("../../dist/src/cli.js", import.meta.url));
const READY_MS = 30_000;
const STOP_MS = 15_000;
const LOG_CHARACTERS = 20_000;

const Ready = z.object({ url: z.string().nullable(), pid: z.number() });

/** One `tailrace` command as a process that is killed and started again. */
export type CliProcess = {
  readonly name: string;
  /** Of the newest start. Throws for a command without a front desk. */
  url(): string;
  pid(): number;
  /** Resolves when it says that it is ready; throws with its last words when it does not. */
  start(): Promise<void>;
  /** SIGKILL, sent before this returns; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM, and SIGKILL when that does not end it. */
  stop(): Promise<void>;
  /** The end of what it wrote to stderr in all its starts. */
  log(): string;
};

export function cliProcess(name: string, args: readonly string[]): CliProcess {
  let child: ChildProcess | null = null;
  let url: string | null = null;
  let log = "";

  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    const hurry = setTimeout(() => child?.kill("SIGKILL"), STOP_MS);
    await exited;
    clearTimeout(hurry);
  };
  return {
    name,
    url() {
      if (url === null) throw new Error(`${name} has no front desk`);
      return url;
    },
    pid: () => child?.pid ?? 0,
    async start() {
      const started = spawn(process.execPath, [CLI, ...args, "--ready-json", "--log-level", "info"], {
        stdio: ["ignore", "pipe", "pipe"],
        env: { ...process.env, REDIS_URL: "", TAILRACE_REDIS_URL: "" },
      });
      child = started;
      started.stderr.on("data", (chunk: Buffer) => {
        log = (log + chunk.toString()).slice(-LOG_CHARACTERS);
      });
      const ready = await firstLine(started, () => `${name} did not come up:\n${log}`);
      url = Ready.parse(JSON.parse(ready)).url;
    },
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    log: () => log,
  };
}

async function firstLine(child: ChildProcess, complaint: () => string): Promise<string> {
  if (child.stdout === null) throw new Error("no stdout");
  const lines = createInterface({ input: child.stdout });
  const signal = AbortSignal.timeout(READY_MS);
  try {
    const line = await Promise.race([once(lines, "line", { signal }), once(child, "exit", { signal })]);
    if (typeof line[0] !== "string" || !line[0].startsWith("{")) throw new Error(String(line));
    child.stdout.resume();
    return line[0];
  } catch (error) {
    child.kill("SIGKILL");
    throw new Error(complaint(), { cause: error });
  }
}
