import type { JobEnd } from "../../src/domain/adapter.ts";
import type { EventDraft } from "../../src/domain/event.ts";
import { concludeOutcome } from "../../src/domain/outcome.ts";
import type { Findings } from "../../src/domain/translator.ts";

/** `solver.finished`: what the log and the job's end come to together. */
export function finishedEvent(end: JobEnd, findings: Findings): EventDraft {
  const { verdict, basis, exitCode, signal } = concludeOutcome(end, findings, false);
  const { solver, steps, finalTime, residuals, metrics, segments, warnings } = findings;
  const payload = {
    solver,
    endState: verdict,
    steps,
    finalTime,
    residuals: residuals.map((one) => ({ ...one })),
    metrics: { ...metrics },
    segments,
    warnings,
    basis,
    ...(exitCode === null ? {} : { exitCode }),
    ...(signal === null ? {} : { signal }),
  };
  return { type: "solver.finished", payload };
}
