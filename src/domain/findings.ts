import type { Findings } from "./translator.ts";

/** Findings of a log that says nothing, or of which nothing was read. */
export const NO_FINDINGS: Findings = {
  solver: "generic",
  fatal: null,
  diverged: null,
  endMarker: null,
  converged: null,
  stoppedByRequest: false,
  steps: 0,
  finalTime: null,
  residuals: [],
  metrics: {},
  segments: 1,
  warnings: 0,
};
