import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { TaskRecord } from "../../../src/domain/task.ts";
import { eventually } from "../eventually.ts";
import { startWorld, type World, type WorldOptions } from "../world.ts";
import { type Cluster, clusterFromEnv } from "./cluster.ts";
import { slurmDirectory } from "./harness.ts";

type SlurmWorldOptions = Pick<WorldOptions, "tools" | "tuning" | "log"> & {
  /** Fields of the target `cluster`, to which all tools go that name no other. */
  readonly target?: JsonObject;
  /** Fields of further targets. */
  readonly others?: Readonly<Record<string, JsonObject>>;
};

/** A whole Tailrace in this process, on the cluster that SLURM_CONF names. */
export type SlurmWorld = World & {
  readonly cluster: Cluster;
  readonly workdir: string;
  record(taskId: string): Promise<TaskRecord>;
  /** Resolves with the status message once it matches. */
  says(taskId: string, pattern: RegExp, deadlineMs?: number): Promise<string>;
  /** The id of the batch job, once there is one. */
  batchJob(taskId: string): Promise<string>;
  /** Ends of the task: `outcome` as structuredContent tells it, `text` as a person reads it. */
  outcome(
    taskId: string,
    deadlineMs?: number,
  ): Promise<{ readonly outcome: JsonObject; readonly text: string }>;
  /** Throws when the task has a directory or a batch job. */
  leftNothing(taskId: string): Promise<void>;
};

export async function startSlurmWorld(options: SlurmWorldOptions = {}): Promise<SlurmWorld> {
  const cluster = clusterFromEnv();
  const directory = slurmDirectory();
  const { workdir } = directory;
  const common = { scheduler: "slurm", workdir, slurmConf: cluster.conf, pollSeconds: 1 };
  const others = options.others ?? {};
  const world = await startWorld({
    tools: (options.tools ?? []).map((tool) =>
      tool.target in others ? tool : { ...tool, target: "cluster" },
    ),
    targets: {
      cluster: { ...common, ...options.target },
      ...Object.fromEntries(Object.entries(others).map(([name, fields]) => [name, { ...common, ...fields }])),
    },
    tuning: { submitTimeoutMs: 20_000, ...options.tuning },
    ...(options.log === undefined ? {} : { log: options.log }),
  });
  const record = async (taskId: string) => {
    const stored = await world.ledger.store.read(taskId);
    if (stored === null) throw new Error("the task is gone");
    return stored.record;
  };
  const namesOf = async (mark: string) =>
    await cluster.run(["squeue", "-h", `--name=${mark}`, "-o", "%i %T"]);
  return {
    ...world,
    cluster,
    workdir,
    record,
    says: (taskId, pattern, deadlineMs) =>
      eventually(async () => {
        const { result } = await world.call("tasks/get", { taskId });
        expect(result["statusMessage"]).toMatch(pattern);
        return String(result["statusMessage"]);
      }, deadlineMs),
    batchJob: (taskId) =>
      eventually(async () => {
        const { job } = await record(taskId);
        if (job === null) throw new Error("there is no batch job yet");
        return job.id;
      }, 20_000),
    async outcome(taskId, deadlineMs) {
      const { result } = await world.ended(taskId, deadlineMs);
      const { content, structuredContent } = result as {
        content: { text: string }[];
        structuredContent: { outcome: JsonObject };
      };
      return { outcome: structuredContent.outcome, text: content[0]?.text ?? "" };
    },
    async leftNothing(taskId) {
      const { mark } = await record(taskId);
      expect(existsSync(join(workdir, mark))).toBe(false);
      expect(await namesOf(mark)).toBe("");
    },
    async stop() {
      await world.stop();
      for (const user of ["root", "alice", "bob"]) await cluster.run(["scancel", `--user=${user}`]);
      await eventually(async () => {
        expect(await cluster.run(["squeue", "-h", "-o", "%i %T"])).toBe("");
      }, 20_000);
      directory.remove();
    },
  };
}
