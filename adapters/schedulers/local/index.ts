import { access, mkdir, realpath } from "node:fs/promises";
import { hostname } from "node:os";
import type { Estimate, JobRef, JobSpec, SchedulerAdapter } from "../../../src/domain/adapter.ts";
import { asBridgeError, SUBMITTING, unlessCode } from "../shared/atomic-file.ts";
import { whyNever } from "../shared/attempts.ts";
import { createGate } from "../shared/gate.ts";
import { closeFor, collectFrom, deliverTo, readLogsOf } from "../shared/job-access.ts";
import { removeUnfinished } from "../shared/job-directory.ts";
import type { JobLayout } from "../shared/job-layout.ts";
import { inParallel } from "../shared/until-aborted.ts";
import { checkMachine } from "./check.ts";
import { hasFreeSlot } from "./launch.ts";
import { createLine, type Line } from "./line.ts";
import { readBootId } from "./processes.ts";
import { findJob, type LocalDeps, type LocalRoom, queueDirectory, slotDirectory } from "./room.ts";
import { steerJob } from "./steer.ts";
import { stopJob } from "./stop.ts";
import { locateMark, seizeAttempt, submitJob } from "./submit.ts";
import type { LocalTarget } from "./target.ts";
import { observeJob } from "./watch.ts";

export type { LocalDeps } from "./room.ts";
export { LocalTarget } from "./target.ts";

export type LocalConfig = {
  /** The target's name in the configuration. */
  readonly name: string;
  /** The configured instance: part of every mark. */
  readonly instance: string;
  readonly target: LocalTarget & { readonly workdir: string };
};

const LIMITS = { observeBatch: 10_000, minObserveIntervalMs: 250, submitMs: 60_000, drainMs: 2_000 };
const WIDTH = 16;

type Opened = { readonly room: LocalRoom; readonly line: Line };

/**
 * Runs jobs as processes on this machine. All state is in the workdir and in the kernel, so any number of processes may
 * hold an adapter on one workdir, and none is needed for a job to go on. Jobs that wait are started by whichever adapter
 * is called next. `resources.memoryMib` and `gpus` are not enforced.
 */
export function createLocalAdapter(config: LocalConfig, deps: LocalDeps): SchedulerAdapter {
  const { call, close } = createGate({
    target: config.name,
    instance: config.instance,
    open: () => openRoom(config, deps),
    assertPresent: ({ room }: Opened) => access(slotDirectory(room)),
  });

  return {
    scheduler: "local",
    limits: LIMITS,
    submit: (request, signal) =>
      call(SUBMITTING, signal, ({ room, line }) => submitJob({ room, line, request, signal, deps })),
    locate: (marks, signal) =>
      call("looking jobs up", signal, async ({ room, line }) => {
        await line.advance();
        const found = await inParallel(marks, WIDTH, (mark) => locateMark(room, mark));
        return new Map(marks.map((mark, index) => [mark, found[index] ?? null]));
      }),
    seize: (mark, attempt, signal) =>
      call("taking an attempt back", signal, ({ room, line }) => seizeAttempt(room, line, { mark, attempt })),
    observe: (jobs, signal) =>
      call("observing jobs", signal, async ({ room, line }) => {
        await line.advance();
        const seen = await inParallel(jobs, WIDTH, async (ref) => {
          const job = findJob(room, ref);
          if (job === null) return { kind: "unknown" as const, why: "not a job of this target", gone: false };
          return observeJob(room, job, line).catch((error: unknown) => ({
            kind: "unknown" as const,
            why: asBridgeError(error, { fault: "unreadable", target: config.name, doing: "observing a job" })
              .message,
            gone: false,
          }));
        });
        return new Map(
          jobs.map((ref, index) => [
            ref.id,
            seen[index] ?? { kind: "unknown" as const, why: "no answer", gone: false },
          ]),
        );
      }),
    cancel: (ref, signal) =>
      call("cancelling a job", signal, async ({ room, line }) => {
        const job = findJob(room, ref);
        return job === null ? "not_found" : stopJob(room, job, line);
      }),
    readLogs: (requests, signal) =>
      call("reading logs", signal, ({ room }) =>
        inParallel(requests, WIDTH, (request) => readLogsOf(layoutOf(room, request.job), request)),
      ),
    deliver: (ref, key, value, signal) =>
      call("delivering an answer", signal, ({ room }) => deliverTo(layoutOf(room, ref), key, value)),
    collect: (ref, request, signal) =>
      call("collecting outputs", signal, ({ room }) => collectFrom(layoutOf(room, ref), request, signal)),
    retire: (ref, signal) => call("retiring a job", signal, ({ room }) => closeFor(layoutOf(room, ref))),
    estimate: (spec, signal) => call("estimating", signal, ({ room }) => estimate(room, spec, signal)),
    steer: (ref, action, signal) =>
      call("steering a job", signal, ({ room }) => steerJob(findJob(room, ref), action)),
    usage: () => ({ lastMinute: 0, total: {} }),
    check: (signal) => call("checking", signal, ({ room }) => checkMachine(room, signal)),
    close: async () => {
      const opened = await close();
      await opened?.line.settle();
    },
  };
}

function layoutOf(room: LocalRoom, ref: JobRef): JobLayout | null {
  return findJob(room, ref)?.layout ?? null;
}

async function estimate(room: LocalRoom, spec: JobSpec, signal: AbortSignal): Promise<Estimate> {
  const problem = whyNever(spec);
  if (problem !== null) return { accepted: false, startsAtMs: null, reason: problem };
  if (await hasFreeSlot(room, signal)) return { accepted: true, startsAtMs: room.now(), reason: null };
  const { maxConcurrent } = room;
  return {
    accepted: true,
    startsAtMs: null,
    reason: `it would wait: ${maxConcurrent} of ${maxConcurrent} slots are in use`,
  };
}

async function openRoom(config: LocalConfig, deps: LocalDeps): Promise<Opened> {
  const { workdir, maxConcurrent, graceSeconds } = config.target;
  await mkdir(workdir, { recursive: true, mode: 0o700 });
  const room: LocalRoom = {
    target: config.name,
    instance: config.instance,
    workdir: await realpath(workdir),
    maxConcurrent,
    graceSeconds,
    hostname: hostname(),
    bootId: await readBootId(),
    now: deps.now,
  };
  for (const path of [queueDirectory(room), slotDirectory(room)]) {
    // Not a recursive mkdir: that one hides a read-only file system behind ENOENT.
    await unlessCode(["EEXIST"], undefined, () => mkdir(path, { mode: 0o700 }));
  }
  await removeUnfinished(room.workdir, deps.now());
  return { room, line: createLine(room) };
}
