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
  /** Checks the target's part of the configuration; throws a zod error. */
  readonly parse: (config: unknown) => { readonly scheduler: string };
  /** What a tool's `options` may hold; null: nothing of it is read, and anything goes. */
  readonly options: z.ZodType | null;
  readonly create: (config: unknown, context: AdapterContext) => SchedulerAdapter;
};

/** Every scheduler we speak to. A new one is a folder beside `local` and a line here. */
const SCHEDULERS: ReadonlyMap<string, Entry> = new Map([
  [
    "local",
    {
      parse: (config) => LocalTarget.parse(config),
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
      parse: (config) => SlurmTarget.parse(config),
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

/** Throws a zod error for settings that do not fit the scheduler, or a plain one for a scheduler that is not there. */
export function parseTarget(config: { readonly scheduler: string }): { readonly scheduler: string } {
  return entryOf(config.scheduler).parse(config);
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
