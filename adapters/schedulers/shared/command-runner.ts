import type { Readable } from "node:stream";
import { execa } from "execa";

export type RunOptions = {
  readonly stdin?: string | Uint8Array;
  /** The whole environment of the command; this process's own when absent. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Output beyond this many bytes (of stdout and of stderr, each) ends the command. */
  readonly maxBytes: number;
};

export type RunResult = {
  readonly exitCode: number | null;
  /** Name of the signal that ended it, or null. */
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly aborted: boolean;
  readonly tooMuchOutput: boolean;
  /** Why it could not be started at all (no such program, …): then nothing ran. */
  readonly notStarted: string | null;
};

/** Runs one command to its end. Never throws for what the command does. `ssh` or a test may stand in for it. */
export type CommandRunner = (argv: readonly string[], options: RunOptions) => Promise<RunResult>;

const KILL_AFTER_MS = 300;
const GIVE_UP_AFTER_MS = 700;

/**
 * Runs argv on this machine, in a process group of its own. An abort or the deadline stops the whole group (TERM, then
 * KILL) and answers within a second, even when a grandchild keeps the pipes open.
 */
export const run: CommandRunner = async (argv, options) => {
  const deadline = AbortSignal.timeout(options.timeoutMs);
  const stopped = AbortSignal.any([options.signal, deadline]);
  const blank = { exitCode: null, signal: null, stdout: "", stderr: "", tooMuchOutput: false };
  const flags = () => ({
    timedOut: deadline.aborted && !options.signal.aborted,
    aborted: options.signal.aborted,
  });
  if (stopped.aborted) return { ...blank, ...flags(), notStarted: "it was stopped before it began" };
  const [file = "", ...args] = argv;
  const child = execa(file, args, {
    reject: false,
    detached: true,
    cleanup: false,
    // Its own buffering takes the event loop for as long as a command floods it: no deadline would be kept.
    buffer: false,
    extendEnv: options.env === undefined,
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.stdin === undefined ? { stdin: "ignore" as const } : { input: options.stdin }),
  });
  const { gaveUp, release } = stopGroupOn(stopped, child.pid);
  const overflow = () => killGroup(child.pid, "SIGKILL");
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) =>
    gather(stream, options.maxBytes, overflow),
  );
  const result = await Promise.race([child, gaveUp]);
  release();
  if (result === null) {
    child.stdout.destroy();
    child.stderr.destroy();
    return { ...blank, ...flags(), notStarted: null };
  }
  return {
    exitCode: result.exitCode ?? null,
    signal: result.signal ?? null,
    stdout: stdout?.text() ?? "",
    stderr: stderr?.text() ?? "",
    ...flags(),
    tooMuchOutput: [stdout, stderr].some((output) => output?.isTooMuch()),
    notStarted: child.pid === undefined ? (result.originalMessage ?? "it could not be started") : null,
  };
};

type Output = { text(): string; isTooMuch(): boolean };

/** Keeps what a stream brings, as UTF-8. What goes over the limit is dropped, and the stream is closed. */
function gather(stream: Readable, maxBytes: number, overflow: () => void): Output {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) return chunks.push(chunk);
    chunks.push(chunk.subarray(0, Math.max(0, chunk.length - (bytes - maxBytes))));
    overflow();
    return stream.destroy();
  });
  return { text: () => Buffer.concat(chunks).toString("utf8"), isTooMuch: () => bytes > maxBytes };
}

function stopGroupOn(
  stopped: AbortSignal,
  pid: number | undefined,
): { gaveUp: Promise<null>; release: () => void } {
  const timers: NodeJS.Timeout[] = [];
  let stop: () => void = () => undefined;
  const gaveUp = new Promise<null>((resolve) => {
    stop = () => {
      killGroup(pid, "SIGTERM");
      timers.push(setTimeout(() => killGroup(pid, "SIGKILL"), KILL_AFTER_MS));
      timers.push(setTimeout(() => resolve(null), GIVE_UP_AFTER_MS));
    };
    stopped.addEventListener("abort", stop, { once: true });
  });
  const release = () => {
    stopped.removeEventListener("abort", stop);
    for (const timer of timers) clearTimeout(timer);
    // The command has ended; what it started and left in its group must not outlive the stop.
    if (stopped.aborted) killGroup(pid, "SIGKILL");
  };
  return { gaveUp, release };
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    return; // the group is gone, which is what was wanted
  }
}

export type Launched = {
  readonly pid: number | null;
  /** Its exit code while this process lives to see it; null when a signal ended it or it never started. */
  readonly exited: Promise<{ readonly exitCode: number | null; readonly problem: string | null }>;
};

/**
 * Starts a process that outlives this one: a session of its own, nothing of ours on its file descriptors, and exactly
 * this environment.
 */
export function spawnDetached(
  argv: readonly string[],
  options: { readonly env: Readonly<Record<string, string>>; readonly cwd: string },
): Launched {
  const [file = "", ...args] = argv;
  const child = execa(file, args, {
    reject: false,
    detached: true,
    cleanup: false,
    stdio: "ignore",
    buffer: false,
    extendEnv: false,
    env: options.env,
    cwd: options.cwd,
  });
  child.unref();
  const exited = child.then((result) => ({
    exitCode: result.exitCode ?? null,
    problem: child.pid === undefined ? (result.originalMessage ?? "it could not be started") : null,
  }));
  return { pid: child.pid ?? null, exited };
}
