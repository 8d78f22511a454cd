import type { JobEnd } from "../../src/domain/adapter.ts";
import type { EventDraft } from "../../src/domain/event.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { concludeOutcome, type EndState } from "../../src/domain/outcome.ts";
import type { Findings } from "../../src/domain/translator.ts";

/** `solver.finished`: what the log and the job's end come to together. */
export function finishedEvent(end: JobEnd, findings: Findings): EventDraft {
  const { verdict, basis, exitCode, signal } = concludeOutcome(end, findings, false);
  const payload = {
    ...finishedPayload(findings, { state: verdict, basis }),
    ...(exitCode === null ? {} : { exitCode }),
    ...(signal === null ? {} : { signal }),
  };
  return { type: "solver.finished", payload };
}

/** The payload without exit code and signal, which not everybody knows. */
export function finishedPayload(
  { solver, steps, finalTime, residuals, metrics, segments, warnings }: Findings,
  verdict: { readonly state: EndState; readonly basis: readonly string[] },
): JsonObject {
  return {
    solver,
    endState: verdict.state,
    steps,
    finalTime,
    residuals: residuals.map((one) => ({ ...one })),
    metrics: { ...metrics },
    segments,
    warnings,
    basis: [...verdict.basis],
  };
}
