import fc from "fast-check";
import { expect, test } from "vitest";
import type { JobEnd } from "../../../src/domain/adapter.ts";
import { NO_FINDINGS } from "../../../src/domain/findings.ts";
import { concludeOutcome, Outcome, signalName } from "../../../src/domain/outcome.ts";
import type { Findings } from "../../../src/domain/translator.ts";
import { jobEnd, jobEnds } from "../../support/records.ts";

const FATAL = { fatal: "FOAM FATAL ERROR" };
const DIVERGED = { diverged: "nan in p" };
const ENDED = { endMarker: true };
const CONVERGED = { converged: true };

type Case = [string, Partial<JobEnd>, Partial<Findings>, kind: string, verdict: string, basis: string[]];

/** Each line beats the ones below it: it carries all they look at, and their answer does not show. */
test.each<Case>([
  [
    "a kill by the scheduler beats a fatal marker",
    { kind: "out_of_memory", exitCode: 1, signal: 9 },
    { ...FATAL, ...DIVERGED },
    "out_of_memory",
    "stopped",
    ["scheduler:out_of_memory"],
  ],
  [
    "a fatal marker beats nan",
    { kind: "signalled", exitCode: null, signal: 8 },
    { ...FATAL, ...DIVERGED },
    "failed",
    "failed",
    ["fatal_marker", "text:FOAM FATAL ERROR"],
  ],
  [
    "nan beats a signal",
    { kind: "signalled", exitCode: null, signal: 15 },
    { ...DIVERGED, ...CONVERGED },
    "diverged",
    "diverged",
    ["diverged", "text:nan in p"],
  ],
  ["nan beats exit 0", {}, { ...DIVERGED, ...ENDED }, "diverged", "diverged", ["diverged", "text:nan in p"]],
  [
    "a stop on request beats the exit code",
    { exitCode: 1 },
    { stoppedByRequest: true, endMarker: false },
    "failed",
    "stopped_gracefully",
    ["stop_message"],
  ],
  [
    "a signal beats the exit code",
    { kind: "signalled", exitCode: 143, signal: 15 },
    CONVERGED,
    "failed",
    "stopped",
    ["signal:SIGTERM"],
  ],
  [
    "SIGFPE is divergence",
    { kind: "signalled", exitCode: null, signal: 8 },
    {},
    "diverged",
    "diverged",
    ["signal:SIGFPE"],
  ],
  [
    "SIGSEGV is failure",
    { kind: "signalled", exitCode: null, signal: 11 },
    {},
    "failed",
    "failed",
    ["signal:SIGSEGV"],
  ],
  [
    "an exit code beats a missing end marker",
    { exitCode: 201 },
    { endMarker: false },
    "failed",
    "failed",
    ["exit_code:201"],
  ],
  [
    "an exit code beats convergence",
    { exitCode: 1 },
    { ...ENDED, ...CONVERGED },
    "failed",
    "failed",
    ["exit_code:1"],
  ],
  [
    "a missing end marker beats convergence",
    {},
    { endMarker: false, ...CONVERGED },
    "succeeded",
    "unknown",
    ["no_end_marker", "exit_code:0"],
  ],
  [
    "no convergence beats the end marker",
    {},
    { ...ENDED, converged: false },
    "succeeded",
    "finished_not_converged",
    ["not_converged", "end_marker", "exit_code:0"],
  ],
  [
    "convergence beats having finished",
    {},
    { ...ENDED, ...CONVERGED },
    "succeeded",
    "converged",
    ["converged", "end_marker", "exit_code:0"],
  ],
  ["exit 0 alone is finished, not converged", {}, {}, "succeeded", "finished", ["exit_code:0"]],
  ["no exit code at all is no success", { exitCode: null }, {}, "failed", "unknown", ["no_exit_code"]],
  [
    "a process group that is gone is no success, whatever the log says",
    { kind: "vanished", exitCode: null },
    { ...ENDED, ...CONVERGED },
    "failed",
    "converged",
    ["converged", "end_marker"],
  ],
  [
    "exit 0 of a script that never started is no success",
    { started: false },
    {},
    "launch_failed",
    "unknown",
    ["never_started"],
  ],
])("%s", (_, end, findings, kind, verdict, basis) => {
  const outcome = concludeOutcome(jobEnd(end), { ...NO_FINDINGS, ...findings }, false);
  expect(outcome).toMatchObject({ kind, verdict, ok: kind === "succeeded" });
  expect(outcome.basis).toEqual([...basis, "witness:accounting"]);
});

const anyFindings: fc.Arbitrary<Findings> = fc
  .record({
    fatal: fc.constantFrom(null, "x"),
    diverged: fc.constantFrom(null, "x"),
    endMarker: fc.constantFrom(null, true, false),
    converged: fc.constantFrom(null, true, false),
    stoppedByRequest: fc.boolean(),
  })
  .map((fields) => ({ ...NO_FINDINGS, ...fields }));

test("every end and every log give a valid outcome, with a basis that names the witness last", () => {
  const check = fc.property(jobEnds, anyFindings, fc.boolean(), (end, findings, ours) => {
    const outcome = concludeOutcome(end, findings, ours);
    expect(Outcome.safeParse(outcome).error).toBeUndefined();
    expect(outcome.basis.at(-1)).toBe(`witness:${end.witness}`);
    expect(outcome.basis.length).toBeGreaterThan(1);
  });
  fc.assert(check, { numRuns: 1_000 });
});

test("only a started script that exited 0 by itself, without a failure in its log, is ok", () => {
  const check = fc.property(jobEnds, anyFindings, fc.boolean(), (end, findings, ours) => {
    const outcome = concludeOutcome(end, findings, ours);
    expect(outcome.ok).toBe(outcome.kind === "succeeded");
    expect(outcome.kind === "cancelled").toBe(ours);
    if (!outcome.ok) return;
    expect(end).toMatchObject({ kind: "exited", exitCode: 0, started: true });
    expect([findings.fatal, findings.diverged]).toEqual([null, null]);
  });
  fc.assert(check, { numRuns: 1_000 });
});

test("convergence is reported only when the log says so", () => {
  const check = fc.property(jobEnds, anyFindings, (end, findings) => {
    const { verdict } = concludeOutcome(end, findings, false);
    if (verdict === "converged") expect(findings.converged).toBe(true);
  });
  fc.assert(check, { numRuns: 1_000 });
});

test("signals have their Linux names, and unknown ones their number", () => {
  expect([6, 8, 9, 11, 15, 64].map(signalName)).toEqual([
    "SIGABRT",
    "SIGFPE",
    "SIGKILL",
    "SIGSEGV",
    "SIGTERM",
    "signal 64",
  ]);
});
