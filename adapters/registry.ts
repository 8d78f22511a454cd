import type { z } from "zod";
import type { SchedulerAdapter } from "../src/domain/adapter.ts";
import type { JsonObject } from "../src/domain/json.ts";
import { createLocalAdapter, LocalTarget } from "./schedulers/local/index.ts";
import { run } from "./schedulers/shared/command-runner.ts";
import { createSlurmAdapter, SlurmOptions, SlurmTarget } from "./schedulers/slurm/index.ts";

/** What an adapter is told beside its own part of the configuration. */
export type AdapterContext = {
  readonly target: string;
  readonly stateDir: string;
  readonly instance: string;
  /** The target's `defaults`. */
  readonly defaults: JsonObject;
};

type Entry = {
  /** The target's part of the configuration. */
  readonly target: z.ZodType<{ readonly scheduler: string }>;
  /** What a tool's `options` may hold; null: nothing of it is read, and anything goes. */
  readonly options: z.ZodType | null;
  readonly create: (config: unknown, context: AdapterContext) => SchedulerAdapter;
};

/** Every scheduler we speak to. A new one is a folder beside `local` and a line here. */
const SCHEDULERS: ReadonlyMap<string, Entry> = new Map([
  [
    "local",
    {
      target: LocalTarget,
      options: null,
      create: (config, { target, stateDir, instance }) => {
        const local = LocalTarget.parse(config);
        const workdir = local.workdir ?? `${stateDir}/jobs/${target}`;
        return createLocalAdapter(
          { name: target, instance, target: { ...local, workdir } },
          { now: Date.now },
        );
      },
    },
  ],
  [
    "slurm",
    {
      target: SlurmTarget,
      options: SlurmOptions,
      create: (config, { target, instance, defaults }) =>
        createSlurmAdapter(
          { name: target, instance, defaults, target: SlurmTarget.parse(config) },
          { now: Date.now, run, random: Math.random },
        ),
    },
  ],
]);

/** Every translator of logs that a tool may name. */
export { SOLVER_NAMES } from "./solvers/translators.ts";

export const SCHEDULER_NAMES: readonly string[] = [...SCHEDULERS.keys()];

/** Schema of a target of this scheduler. Throws for a scheduler that is not there. */
export function targetSchema(scheduler: string): z.ZodType<{ readonly scheduler: string }> {
  return entryOf(scheduler).target;
}

/** Schema of the scheduler settings of a tool or of a target's `defaults`, or null when any are let through. */
export function optionsSchema(scheduler: string): z.ZodType | null {
  return entryOf(scheduler).options;
}

export function createAdapter(
  config: { readonly scheduler: string },
  context: AdapterContext,
): SchedulerAdapter {
  return entryOf(config.scheduler).create(config, context);
}

function entryOf(scheduler: string): Entry {
  const entry = SCHEDULERS.get(scheduler);
  if (entry === undefined) {
    throw new Error(
      `there is no scheduler ${JSON.stringify(scheduler)}: expected ${SCHEDULER_NAMES.join(", ")}`,
    );
  }
  return entry;
}
