import { answerOf } from "./ask-slurm.ts";
import { type ClusterFacts, parseClusterFacts } from "./cluster-facts.ts";
import type { SlurmRoom } from "./room.ts";

const FRESH_MS = 600_000;

/** What the cluster's configuration says, asked for now and then. */
export type Facts = {
  /** Throws BridgeError when the controller does not answer and nothing is known yet. */
  get(room: SlurmRoom, signal: AbortSignal): Promise<ClusterFacts>;
  /** What was heard last, or null. */
  readonly known: ClusterFacts | null;
};

export function createFacts(now: () => number): Facts {
  let known: ClusterFacts | null = null;
  let atMs = 0;
  return {
    get known() {
      return known;
    },
    async get(room, signal) {
      if (known !== null && now() - atMs < FRESH_MS) return known;
      try {
        known = parseClusterFacts(await answerOf(room, "scontrol", ["show", "config"], { signal }));
        atMs = now();
        return known;
      } catch (error) {
        if (known === null) throw error;
        return known;
      }
    },
  };
}
