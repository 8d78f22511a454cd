import { access, open, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { SchedulerAdapter } from "../../../src/domain/adapter.ts";
import { BridgeError } from "../../../src/domain/errors.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { SUBMITTING, unlessCode } from "../shared/atomic-file.ts";
import { createCommandCounter } from "../shared/command-counter.ts";
import type { CommandRunner } from "../shared/command-runner.ts";
import { createGate } from "../shared/gate.ts";
import { createGatherer } from "../shared/gather.ts";
import { closeFor, collectFrom, readLogsOf } from "../shared/job-access.ts";
import { removeUnfinished } from "../shared/job-directory.ts";
import { inParallel } from "../shared/until-aborted.ts";
import { createAccounts } from "./account.ts";
import { knownAnswer, type Stops, stopJobs } from "./cancel.ts";
import { checkCluster } from "./check.ts";
import { estimateJob } from "./estimate.ts";
import { createFacts } from "./facts.ts";
import { deliverAsOwner } from "./hand-over.ts";
import { locateMarks } from "./locate.ts";
import { createWatch, observeJobs, type Watch } from "./observe.ts";
import { createPace, type Pace } from "./pace.ts";
import { findJob } from "./places.ts";
import type { SlurmRoom } from "./room.ts";
import { steerJob } from "./steer.ts";
import { seizeAttempt, submitJob } from "./submit.ts";
import type { SlurmTarget } from "./target.ts";
import { createUsers } from "./users.ts";

export { SlurmOptions } from "./options.ts";
export { SlurmTarget } from "./target.ts";

export type SlurmConfig = {
  /** The target's name in the configuration. */
  readonly name: string;
  /** The configured instance: part of every mark. */
  readonly instance: string;
  readonly target: SlurmTarget;
  /** The target's `defaults`: what every job of it starts from. */
  readonly defaults: JsonObject;
};

export type SlurmDeps = {
  /** ms since the epoch. */
  readonly now: () => number;
  readonly run: CommandRunner;
  /** 0 to 1. */
  readonly random: () => number;
};

const WIDTH = 16;
const OBSERVE_BATCH = 10_000;
const MAX_STOPS = 500;
const GATHER_MS = 50;
/** A shared file system may show the end of a log as late as this. */
const DRAIN_MS = 60_000;
/** A file that says that this directory is ours: one that was unmounted looks empty. */
const SIGN = ".tailrace-workdir";

type Opened = { readonly room: SlurmRoom; readonly watch: Watch };

/**
 * Runs jobs as batch jobs of a Slurm cluster. All state is in the workdir, which the nodes share, and in Slurm, so any
 * number of processes may hold an adapter on one workdir, and none is needed for a job to go on.
 */
export function createSlurmAdapter(config: SlurmConfig, deps: SlurmDeps): SchedulerAdapter {
  const pace = createPace(config.target.pollSeconds * 1000, deps.random);
  const counter = createCommandCounter(deps.now);
  const stops: Stops = new Map();
  const { call, close } = createGate({
    target: config.name,
    instance: config.instance,
    open: () => openRoom(config, deps, { pace, counter }),
    assertPresent: ({ room }: Opened) => access(join(room.workdir, SIGN)),
  });
  const stopGathered = createGatherer(GATHER_MS, MAX_STOPS, (refs: Parameters<typeof stopJobs>[2], signal) =>
    call("cancelling jobs", signal, ({ room, watch }) => stopJobs(room, { watch, stops }, refs, signal)),
  );

  return {
    scheduler: "slurm",
    limits: {
      observeBatch: OBSERVE_BATCH,
      get minObserveIntervalMs() {
        return pace.intervalMs;
      },
      drainMs: DRAIN_MS,
      submitMs: config.target.submitTimeoutSeconds * 1000 + 10_000,
    },
    submit: (request, signal) => call(SUBMITTING, signal, ({ room }) => submitJob(room, request, signal)),
    locate: (marks, signal) =>
      call("looking jobs up", signal, ({ room }) => locateMarks(room, marks, signal)),
    seize: (mark, attempt, signal) =>
      call("taking an attempt back", signal, ({ room }) => seizeAttempt(room, { mark, attempt })),
    observe: (jobs, signal) =>
      call("observing jobs", signal, ({ room, watch }) => observeJobs(room, watch, jobs, signal)),
    cancel: (ref, signal) =>
      call("cancelling a job", signal, async ({ room, watch }) => {
        if (findJob(room, ref) === null) return "not_found";
        return knownAnswer(room, watch, stops, ref) ?? stopGathered(ref, signal);
      }),
    readLogs: (requests, signal) =>
      call("reading logs", signal, ({ room }) =>
        inParallel(requests, WIDTH, (request) =>
          readLogsOf(findJob(room, request.job)?.layout ?? null, request),
        ),
      ),
    deliver: (ref, key, value, signal) =>
      call("delivering an answer", signal, ({ room }) =>
        deliverAsOwner(room, findJob(room, ref)?.layout ?? null, { key, value }, signal),
      ),
    collect: (ref, request, signal) =>
      call("collecting outputs", signal, ({ room }) =>
        collectFrom(findJob(room, ref)?.layout ?? null, request, signal),
      ),
    retire: (ref, signal) =>
      call("retiring a job", signal, ({ room }) => closeFor(findJob(room, ref)?.layout ?? null)),
    estimate: (spec, signal) => call("estimating", signal, ({ room }) => estimateJob(room, spec, signal)),
    steer: (ref, action, signal) =>
      call("steering a job", signal, ({ room }) => steerJob(room, findJob(room, ref), action, signal)),
    usage: () => counter.usage(),
    check: (signal) => call("checking", signal, ({ room }) => checkCluster(room, config.defaults, signal)),
    close: async () => {
      await close();
    },
  };
}

type Shared = { readonly pace: Pace; readonly counter: SlurmRoom["counter"] };

async function openRoom(config: SlurmConfig, deps: SlurmDeps, shared: Shared): Promise<Opened> {
  const { workdir } = config.target;
  const { now } = deps;
  await sign(config.name, workdir);
  const room: SlurmRoom = {
    target: config.name,
    instance: config.instance,
    config: config.target,
    workdir: await realpath(workdir),
    run: deps.run,
    facts: createFacts(now),
    users: createUsers(config.target, deps.run),
    now,
    ...shared,
  };
  await removeUnfinished(room.workdir, now());
  return { room, watch: createWatch(createAccounts(room)) };
}

/**
 * Never makes the directory: where a file system was not mounted, an empty one in its place would make every job look
 * as if it had gone.
 */
async function sign(target: string, workdir: string): Promise<void> {
  const file = await unlessCode(["ENOENT"], null, () => open(join(workdir, SIGN), "a", 0o600));
  if (file === null)
    throw new BridgeError(
      "unreachable",
      target,
      `target ${target}: there is no directory ${workdir}: make it on the file system that the nodes share, or mount that`,
    );
  await file.close();
}
