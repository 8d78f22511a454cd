import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../eventually.ts";
import type { Cluster } from "./cluster.ts";

const WAIT_MS = 60_000;
/** Many tests look at once, and each look is a process. */
const BETWEEN_LOOKS_MS = 250;

/** Slurm's own view of one batch job, for tests that compare Tailrace with it. */
export type QueueView = {
  /** As `squeue %T`; empty once the controller has forgotten it. */
  state(id: string): Promise<string>;
  /** Waits until the state matches. */
  becomes(id: string, state: RegExp): Promise<void>;
  requeue(id: string): Promise<void>;
  /** Lets a requeued job start at once: Slurm makes it wait for two minutes. */
  startNow(id: string): Promise<void>;
};

export function queueView(cluster: Cluster): QueueView {
  const state = async (id: string) =>
    (await cluster.run(["squeue", "-h", "-t", "all", `--jobs=${id},${id}`, "--format=%T"])).trim();
  const becomes = (id: string, wanted: RegExp) =>
    eventually(async () => {
      const now = await state(id);
      if (wanted.test(now)) return;
      await delay(BETWEEN_LOOKS_MS);
      throw new Error(`batch job ${id} is ${now}, wanted ${wanted}`);
    }, WAIT_MS);
  return {
    state,
    becomes,
    async requeue(id) {
      await cluster.run(["scontrol", "requeue", id]);
    },
    async startNow(id) {
      await becomes(id, /^PENDING$/);
      await cluster.run(["scontrol", "update", `jobid=${id}`, "starttime=now"]);
    },
  };
}
