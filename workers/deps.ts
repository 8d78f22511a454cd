import type { Logger } from "pino";
import type { SchedulerAdapter } from "../src/domain/adapter.ts";
import type { Hasten } from "../src/domain/advance.ts";
import type { Json, JsonObject } from "../src/domain/json.ts";
import type { TaskStore } from "../src/domain/store.ts";
import type { PipelineFactory } from "../src/domain/translator.ts";
import type { Tuning } from "../src/domain/tuning.ts";
import type { LogRoom } from "./log-room.ts";

/** What every worker of one target is handed. */
export type WorkerDeps = {
  readonly target: string;
  readonly store: TaskStore;
  readonly adapter: SchedulerAdapter;
  readonly hasten: Hasten;
  readonly createPipeline: PipelineFactory;
  /** Why a job's result does not fit its tool's output schema, in words; null when it does. */
  readonly checkResult: (schema: JsonObject, result: Json) => string | null;
  readonly logs: LogRoom;
  readonly tuning: Tuning;
  readonly log: Logger;
};

/** Resolves after `ms`, or as soon as the signal fires. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}
