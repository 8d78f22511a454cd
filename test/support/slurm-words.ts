import { endOf } from "../../adapters/schedulers/slurm/end.ts";
import { expandHosts } from "../../adapters/schedulers/slurm/hosts.ts";
import { readState } from "../../adapters/schedulers/slurm/states.ts";
import type { Look } from "./slurm-captures.ts";

/** What a look comes to, in short: `queued (Priority)`, `running`, `timeout signal 15`, `exited 3`, `unknown`. */
export function wordsOfLook(look: Look): string {
  const reading = readState(look.state, look.reason ?? "");
  if (reading.kind === "unknown") return "unknown";
  if (reading.kind !== "ended") {
    const own = look.reason === null ? null : (/\(([^()]*)\)$/.exec(reading.reason ?? "")?.[1] ?? null);
    return own === null ? reading.kind : `${reading.kind} (${own.replaceAll("_", " ").replace(/,.*/, "")})`;
  }
  const nodes = look.nodes === null ? ["c1"] : expandHosts(look.nodes);
  const { kind, exitCode, signal } = endOf(
    {
      state: reading.state,
      by: reading.by,
      reason: look.reason,
      exit: look.exit,
      startMs: 1_000,
      endMs: 2_000,
      nodes,
      cpus: 1,
      requeues: look.requeues ?? 0,
      witness: look.view === "sacct" ? "accounting" : "controller",
      settled: true,
    },
    { exit: null, began: nodes.length > 0, problem: null },
  );
  // A view without an exit code cannot tell one end of a script from another.
  if (look.exit === null && (reading.state === "COMPLETED" || reading.state === "FAILED"))
    return reading.state;
  return kind + (exitCode === null ? "" : ` ${exitCode}`) + (signal === null ? "" : ` signal ${signal}`);
}
