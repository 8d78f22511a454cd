import type { SteerAction, SteerAnswer } from "../../../src/domain/adapter.ts";
import { findCarriers, signalProcess } from "./processes.ts";
import type { LocalJob } from "./room.ts";

/** Stops or continues every process of a running job. Its walltime goes on meanwhile. */
export async function steerJob(job: LocalJob | null, action: SteerAction): Promise<SteerAnswer> {
  if (action === "hold" || action === "release")
    return { kind: "refused", reason: "jobs of a local target cannot be held: cancel it instead" };
  const root = job?.layout.root ?? "";
  const { job: processes = [] } = (await findCarriers(root === "" ? [] : [root])).get(root) ?? {};
  if (processes.length === 0) return { kind: "refused", reason: "it has no running process" };
  const signal = action === "suspend" ? "SIGSTOP" : "SIGCONT";
  for (const one of processes) await signalProcess(one, signal);
  return { kind: "done" };
}
