import type { JobSpec } from "../../../src/domain/adapter.ts";
import type { JobLayout } from "../shared/job-layout.ts";
import { ACCOUNT_FORMAT } from "./account-rows.ts";
import type { SlurmOptions } from "./options.ts";
import { QUEUE_FORMAT } from "./queue-rows.ts";

/** Which job of which attempt a batch job is: read back by `attemptOf`. */
export function commentOf(mark: string, attempt: number): string {
  return `${mark} attempt ${attempt}`;
}

/** Null when the comment is not one of ours, or names another mark. */
export function attemptOf(comment: string | null, mark: string): number | null {
  if (comment === null || !comment.startsWith(`${mark} attempt `)) return null;
  const number = /^ attempt ([1-9]\d{0,8})$/.exec(comment.slice(mark.length))?.[1];
  return number === undefined ? null : Number(number);
}

type Request = { readonly spec: Pick<JobSpec, "resources">; readonly options: SlurmOptions };

/** What the job asks of the cluster. Every value is one argv element behind its option's name. */
export function resourceArguments({ spec, options }: Request): string[] {
  const { cpus, memoryMib, walltimeSeconds, gpus } = spec.resources;
  const gres = options.gres ?? (gpus > 0 ? `gpu:${gpus}` : undefined);
  const given: [string, string | number | undefined][] = [
    ["time", Math.ceil(walltimeSeconds / 60)],
    ["ntasks", options.tasks],
    ["cpus-per-task", cpus],
    ["mem", memoryMib === undefined ? undefined : `${memoryMib}M`],
    ["gres", gres],
    ["partition", options.partition],
    ["account", options.account],
    ["qos", options.qos],
    ["constraint", options.constraint],
    ["reservation", options.reservation],
    ["licenses", options.licenses],
    ["nodes", options.nodes],
    ["ntasks-per-node", options.tasksPerNode],
    ["nice", options.nice],
    ["mail-type", options.mail?.type ?? "NONE"],
    ["mail-user", options.mail?.user],
  ];
  return [
    ...given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
    ...(options.exclusive ? ["--exclusive"] : []),
    ...(options.requeue === undefined ? [] : [options.requeue ? "--requeue" : "--no-requeue"]),
    ...options.extra,
  ];
}

/** Arguments of sbatch; the batch script goes to stdin. --quiet would hide the id, --wait would block. */
export function submitArguments(
  request: Request & { readonly mark: string; readonly attempt: number; readonly layout: JobLayout },
): string[] {
  const { mark, attempt, layout } = request;
  return [
    "--parsable",
    `--job-name=${mark}`,
    `--comment=${commentOf(mark, attempt)}`,
    `--chdir=${layout.work}`,
    `--output=${layout.slurmOut}`,
    "--open-mode=append",
    "--export=NONE",
    ...resourceArguments(request),
  ];
}

export function testOnlyArguments(request: Request): string[] {
  return ["--test-only", "--export=NONE", ...resourceArguments(request)];
}

/** squeue compares each job of the queue with each id: more ids than this take it longer than to print all of our users'. */
const MAX_LISTED_IDS = 100;

/**
 * Which of these jobs the controller still knows, finished ones too. One id alone, when unknown, would be an error: it
 * is named twice. (Slurm 20.11 to 26.05: squeue filters lists of ids on the client's side.)
 */
export function queueArguments(ids: readonly string[], users: readonly string[]): string[] {
  const [first = ""] = ids;
  const listed = ids.length === 1 ? [first, first] : ids;
  const filter = ids.length > MAX_LISTED_IDS ? `--user=${users.join(",")}` : `--jobs=${listed.join(",")}`;
  return ["--noheader", "--states=all", filter, `--Format=${QUEUE_FORMAT}`];
}

export function queueByNameArguments(names: readonly string[], users: readonly string[]): string[] {
  return [
    "--noheader",
    "--states=all",
    `--user=${users.join(",")}`,
    `--name=${names.join(",")}`,
    `--Format=${QUEUE_FORMAT}`,
  ];
}

/** Rows of all lives. `sinceMs`: ids are used again, so nothing older than the job itself is asked for. */
export function accountArguments(
  by: { readonly ids: readonly string[] } | { readonly names: readonly string[] },
  sinceMs: number,
): string[] {
  const filter =
    "ids" in by ? [`--jobs=${by.ids.join(",")}`] : ["--allusers", `--name=${by.names.join(",")}`];
  return [
    "--noheader",
    "--parsable2",
    "--delimiter=\x1f",
    "--allocations",
    "--duplicates",
    ...filter,
    `--starttime=${isoSeconds(sinceMs)}`,
    `--format=${ACCOUNT_FORMAT}`,
  ];
}

/** In UTC, as the commands run with TZ=UTC. */
function isoSeconds(ms: number): string {
  return new Date(Math.max(ms, 86_400_000)).toISOString().slice(0, 19);
}
