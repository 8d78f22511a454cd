import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually } from "../eventually.ts";
import { namedConf } from "./named-conf.ts";

/** A daemon of the cluster, by the name of its pid file. */
export type Daemon = "munged" | "mariadbd" | "slurmdbd" | "slurmctld" | `slurmd.c${number}`;

export type RunOptions = {
  /** Written to its stdin. */
  readonly input?: string;
  /** The user to run it as; root otherwise. */
  readonly as?: string;
  /** Killed after this long; 60 s otherwise, since a tool waits for 20 s for a controller that hangs. */
  readonly timeoutMs?: number;
};

/** `exitCode` is null when the program was killed at its time limit. */
export type RunAnswer = {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** The Slurm cluster that SLURM_CONF names, for tests: its tools as data, its daemons by name. */
export type Cluster = {
  /** Path of slurm.conf. */
  readonly conf: string;
  /** Everything of the cluster lives below it. */
  readonly base: string;
  readonly hasAccounting: boolean;
  /** Runs a program with the environment that every cluster tool gets; throws unless it exits 0. Returns its stdout. */
  run(argv: readonly [string, ...string[]], options?: RunOptions): Promise<string>;
  /** The same, with a failure as a value. */
  tryRun(argv: readonly [string, ...string[]], options?: RunOptions): Promise<RunAnswer>;
  /** Null when it does not run. */
  pidOf(name: Daemon): number | null;
  /** SIGSTOP: it hangs, its sockets stay open. */
  stop(name: Daemon): Promise<void>;
  /** SIGCONT. */
  cont(name: Daemon): Promise<void>;
  /** SIGKILL; returns when it is gone. */
  kill(name: Daemon): Promise<void>;
  /** Starts it if it does not run; returns when it answers. */
  start(name: Daemon): Promise<void>;
};

const SCRIPT = fileURLToPath(new URL("cluster.sh", import.meta.url));

/** The cluster that SLURM_CONF names; throws a sentence that says what to do when it names none. */
export function clusterFromEnv(): Cluster {
  const { conf, text } = namedConf();
  const base = dirname(dirname(conf));
  const tryRun = (argv: readonly [string, ...string[]], options: RunOptions = {}) =>
    runProgram(conf, argv, options);
  const run = async (argv: readonly [string, ...string[]], options: RunOptions = {}) => {
    const { exitCode, stdout, stderr } = await tryRun(argv, options);
    if (exitCode === 0) return stdout;
    throw new Error(`${argv.join(" ")} ended with ${exitCode ?? "the time limit"}: ${stderr}${stdout}`);
  };
  const pidOf = (name: Daemon) => livingPid(base, name);
  const signal = async (name: Daemon, which: NodeJS.Signals, isDone: (state: string | null) => boolean) => {
    const pid = pidOf(name);
    if (pid === null) throw new Error(`${name} of the cluster at ${base} does not run`);
    process.kill(pid, which);
    await eventually(() => {
      const state = processStat(pid)?.state ?? null;
      if (!isDone(state)) throw new Error(`${name} (${pid}) is in state ${state} long after ${which}`);
    });
  };
  return {
    conf,
    base,
    hasAccounting: /^AccountingStorageType=accounting_storage\/slurmdbd\s*$/m.test(text),
    run,
    tryRun,
    pidOf,
    stop: (name) => signal(name, "SIGSTOP", (state) => state === "T"),
    cont: (name) => signal(name, "SIGCONT", (state) => state !== "T" && state !== null),
    kill: (name) => signal(name, "SIGKILL", (state) => state === null),
    async start(name) {
      await run(["bash", SCRIPT, "start", name, "--base", base]);
    },
  };
}

/** Nothing of the test's own environment: SQUEUE_FORMAT or SLURM_CLUSTERS would change what the tools say. */
function runProgram(
  conf: string,
  argv: readonly [string, ...string[]],
  { input = "", as, timeoutMs = 60_000 }: RunOptions,
): Promise<RunAnswer> {
  const [program, ...args] = as === undefined ? argv : (["runuser", "-u", as, "--", ...argv] as const);
  const env = {
    PATH: process.env["PATH"],
    HOME: "/",
    SLURM_CONF: conf,
    LC_ALL: "C",
    TZ: "UTC",
    SLURM_TIME_FORMAT: "%s",
  };
  const limits = { timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: 64 << 20 } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { env, cwd: "/", ...limits }, (error, stdout, stderr) => {
      if (child.pid === undefined) reject(new Error(`${program} cannot be run`, { cause: error }));
      else resolve({ exitCode: child.exitCode, stdout, stderr });
    });
    // A program that ends without reading its input breaks the pipe: its exit code tells what there is to tell.
    child.stdin?.on("error", () => undefined).end(input);
  });
}

function livingPid(base: string, name: Daemon): number | null {
  let text: string;
  try {
    text = readFileSync(join(base, "pids", name), "utf8");
  } catch {
    return null; // it was never started, or was taken down
  }
  const [pid, startTime] = text.trim().split(" ");
  const stat = processStat(Number(pid));
  return stat !== null && stat.startTime === startTime ? Number(pid) : null;
}

/** Null when the process is gone or a zombie. `startTime` is in clock ticks since boot, as text. */
function processStat(pid: number): { state: string; startTime: string | undefined } | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null; // no such process
  }
  // The second field is the program's name in brackets and may hold anything.
  const [state = "Z", ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === "Z" || state === "X" ? null : { state, startTime: rest[18] };
}
