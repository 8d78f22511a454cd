import { BridgeError } from "../../../src/domain/errors.ts";
import type { RunResult } from "../shared/command-runner.ts";
import type { SlurmRoom } from "./room.ts";
import type { SlurmTarget } from "./target.ts";
import { type Account, asUser } from "./users.ts";

export type SlurmCommand = keyof SlurmTarget["commands"];

type CallOptions = {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  readonly stdin?: string;
  /** Whose call it is; this process's own user unless given. */
  readonly as?: Account;
};

/** 100,000 jobs in the queue come to some 20 MB. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Calls one Slurm command: argv, a small known environment, a deadline, both streams apart. Never throws for what it says. */
export async function callSlurm(
  room: SlurmRoom,
  command: SlurmCommand,
  args: readonly string[],
  { signal, timeoutMs, stdin, as }: CallOptions,
): Promise<RunResult> {
  const { config, users } = room;
  room.counter.note(command);
  const cluster = config.cluster === undefined ? [] : [`--clusters=${config.cluster}`];
  const account = as ?? users.own;
  const change = account.uid === users.own.uid ? [] : asUser(account);
  return room.run([...change, config.commands[command], ...cluster, ...args], {
    signal,
    timeoutMs: timeoutMs ?? config.queryTimeoutSeconds * 1000,
    maxBytes: MAX_OUTPUT_BYTES,
    env: environment(config, command, account),
    cwd: "/",
    ...(stdin === undefined ? {} : { stdin }),
  });
}

/**
 * SLURM_*, SBATCH_*, SQUEUE_* of the server's environment would change what is sent and printed: only what is named here
 * goes along. sbatch hands every SLURM_* on to the job, so it gets no time format.
 */
function environment(config: SlurmTarget, command: SlurmCommand, account: Account): Record<string, string> {
  const conf = config.slurmConf ?? process.env["SLURM_CONF"];
  return {
    PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: account.home,
    USER: account.name,
    LOGNAME: account.name,
    LC_ALL: "C",
    TZ: "UTC",
    ...(conf === undefined ? {} : { SLURM_CONF: conf }),
    ...(command === "sbatch" ? {} : { SLURM_TIME_FORMAT: "%s" }),
  };
}

/** A call that must have been answered: throws what kept it from that, in words. */
export async function answerOf(
  room: SlurmRoom,
  command: SlurmCommand,
  args: readonly string[],
  options: CallOptions,
): Promise<string> {
  const result = await callSlurm(room, command, args, options);
  options.signal.throwIfAborted();
  if (result.exitCode === 0 && !result.tooMuchOutput) return result.stdout;
  throw new BridgeError(
    "unreachable",
    room.target,
    `target ${room.target}: ${command} ${failureOf(result, options.timeoutMs ?? room.config.queryTimeoutSeconds * 1000)}`,
  );
}

/** How a command failed, with the start of what it said. */
export function failureOf(result: RunResult, timeoutMs: number): string {
  const said = result.stderr
    .trim()
    .replaceAll(/\s*\n\s*/g, "; ")
    .slice(0, 500);
  const because = said === "" ? "" : `: ${said}`;
  if (result.notStarted !== null) return `could not be started: ${result.notStarted}`;
  if (result.timedOut) return `did not answer within ${timeoutMs / 1000} s${because}`;
  if (result.tooMuchOutput) return "printed more than can be read";
  if (result.signal !== null) return `was ended by ${result.signal}${because}`;
  return `failed with exit code ${result.exitCode}${because}`;
}
