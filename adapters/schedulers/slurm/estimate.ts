import type { Estimate, JobSpec } from "../../../src/domain/adapter.ts";
import { BridgeError } from "../../../src/domain/errors.ts";
import { whyNever } from "../shared/attempts.ts";
import { callSlurm, failureOf } from "./ask-slurm.ts";
import { testOnlyArguments } from "./commands.ts";
import { readOptions } from "./options.ts";
import type { SlurmRoom } from "./room.ts";
import { readTestOnly } from "./submit-answer.ts";

const SCRIPT = "#!/bin/sh\nexit 0\n";

/** `sbatch --test-only`: nothing is submitted, though it uses up a job id. */
export async function estimateJob(room: SlurmRoom, spec: JobSpec, signal: AbortSignal): Promise<Estimate> {
  const refused = (reason: string): Estimate => ({ accepted: false, startsAtMs: null, reason });
  const { options, problem } = readOptions(spec);
  const never = whyNever(spec) ?? problem;
  if (never !== null || options === null) return refused(never ?? "its options cannot be read");
  const account = await room.users.accountFor(spec, signal);
  if (typeof account === "string") return refused(account);
  const args = testOnlyArguments({ spec, options });
  const result = await callSlurm(room, "sbatch", args, { signal, stdin: SCRIPT, as: account });
  signal.throwIfAborted();
  const estimate = readTestOnly(result);
  if (estimate !== null) return estimate;
  const why = failureOf(result, room.config.queryTimeoutSeconds * 1000);
  throw new BridgeError("unreachable", room.target, `target ${room.target}: sbatch --test-only ${why}`);
}
