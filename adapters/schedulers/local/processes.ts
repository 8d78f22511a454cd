import { readdir, readFile } from "node:fs/promises";
import { unlessCode } from "../shared/atomic-file.ts";
import { COOKIE, TIMER_COOKIE } from "../shared/wrapper-names.ts";

/** A process beyond doubt: pids are used again, pid and start ticks together are not within one boot. */
export type ProcessId = { readonly pid: number; readonly ticks: string };

/** `local:<pid>:<start ticks>:<boot id>`, as the wrapper writes it into its claim. */
export type LocalIdentity = ProcessId & { readonly boot: string };

export function parseIdentity(text: string): LocalIdentity | null {
  const [, pid, ticks, boot] = /^local:([1-9]\d*):(\d+):([A-Za-z0-9-]+)$/.exec(text) ?? [];
  if (pid === undefined || ticks === undefined || boot === undefined) return null;
  return { pid: Number(pid), ticks, boot };
}

/** Random per boot; `none` where the kernel tells none, as the wrapper writes it then. */
export async function readBootId(): Promise<string> {
  const text = await unlessCode(["ENOENT", "EACCES"], "none", () =>
    readFile("/proc/sys/kernel/random/boot_id", "utf8"),
  );
  return text.trim();
}

/** Codes of a process that ended while it was looked at, or belongs to somebody else. */
const NOT_OURS = ["ENOENT", "ESRCH", "EACCES", "EPERM", "EINVAL", "EIO"];

/** `R`, `S`, `D`, `T` …; null when that very process is gone. A zombie has ended. */
export async function processState({ pid, ticks }: ProcessId): Promise<string | null> {
  const stat = await unlessCode(NOT_OURS, null, () => readFile(`/proc/${pid}/stat`, "utf8"));
  // The name in parentheses may hold blanks and parentheses itself.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields?.[0];
  if (state === undefined || state === "Z" || state === "X" || fields?.[19] !== ticks) return null;
  return state;
}

/**
 * True when a signal has stopped it. A shell stopped while it starts a program (vfork) shows `D` for as long as its
 * child stands still, so then the children are asked.
 */
export async function isStopped(process_: ProcessId): Promise<boolean> {
  const state = await processState(process_);
  if (state !== "D") return state === "T" || state === "t";
  const { pid } = process_;
  const list = await unlessCode(NOT_OURS, "", () => readFile(`/proc/${pid}/task/${pid}/children`, "utf8"));
  const children = list.split(" ").filter((child) => child !== "");
  const stats = await Promise.all(
    children.map((child) => unlessCode(NOT_OURS, "", () => readFile(`/proc/${child}/stat`, "utf8"))),
  );
  return stats.length > 0 && stats.every((stat) => /\) [Tt] [^)]*$/.test(stat));
}

async function startTicks(pid: number): Promise<string | null> {
  const stat = await unlessCode(NOT_OURS, null, () => readFile(`/proc/${pid}/stat`, "utf8"));
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields === undefined || fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
}

/** What runs with a job's directory in its environment: the job's own processes, and its wrapper's timers. */
export type Carriers = { readonly job: readonly ProcessId[]; readonly timers: readonly ProcessId[] };

/** One look at all processes for any number of job directories. */
export async function findCarriers(directories: readonly string[]): Promise<ReadonlyMap<string, Carriers>> {
  const found = new Map(
    directories.map((directory): [string, { job: ProcessId[]; timers: ProcessId[] }] => [
      directory,
      { job: [], timers: [] },
    ]),
  );
  if (found.size === 0) return found;
  for (const name of await readdir("/proc")) {
    if (!/^[1-9]\d*$/.test(name)) continue;
    const environ = await unlessCode(NOT_OURS, null, () => readFile(`/proc/${name}/environ`, "utf8"));
    if (environ === null || !environ.includes("TAILRACE_")) continue;
    for (const entry of environ.split("\0")) {
      const [, variable, directory] = CARRIED.exec(entry) ?? [];
      const place = directory === undefined ? undefined : found.get(directory);
      if (place === undefined) continue;
      const ticks = await startTicks(Number(name));
      if (ticks !== null) place[variable === COOKIE ? "job" : "timers"].push({ pid: Number(name), ticks });
    }
  }
  return found;
}

const CARRIED = new RegExp(`^(${COOKIE}|${TIMER_COOKIE})=(.*)$`, "s");

/** Signals that very process and no other. False: it is gone, or not ours to signal. */
export async function signalProcess(process_: ProcessId, signal: NodeJS.Signals): Promise<boolean> {
  if ((await processState(process_)) === null) return false;
  return send(process_.pid, signal);
}

/** Signals the group that this very process leads. */
export async function signalGroup(leader: ProcessId, signal: NodeJS.Signals): Promise<boolean> {
  if ((await processState(leader)) === null) return false;
  return send(-leader.pid, signal) || send(leader.pid, signal);
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false; // gone between the look and the signal, or another user's
  }
}
