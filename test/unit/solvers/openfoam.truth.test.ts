import { describe, expect, test } from "vitest";
import { translatorFor } from "../../../adapters/solvers/translators.ts";
import { judge } from "../../../src/domain/outcome.ts";
import { type LogTruth, linesOf, logBytes, logNames, logTruth, translate } from "../../support/solver-log.ts";

const openfoam = translatorFor("openfoam");
const cases = [
  ...logNames("openfoam").map((name) => ["openfoam", name] as const),
  ...logNames("synthetic").map((name) => ["synthetic", name] as const),
];

describe.each(cases)("%s/%s", (folder, name) => {
  const { stream, truth } = logTruth(folder, name);
  const { findings, state, notes } = translate(openfoam, linesOf(logBytes(folder, name)));
  const isWhole = (stream.truncated_middle ?? null) === null;

  test("ends as it did in truth", () => {
    const { exit_code: exitCode, signal } = stream;
    const verdict = judge({ exitCode, signal, killedBy: null, termSeen: false }, findings);
    expect(verdict.state).toBe(endStateOf(truth.end_state));
  });

  test("has the steps and the time that were completed", () => {
    const steps = truth.steps ?? truth.steps_completed;
    const time = truth.final_time ?? truth.final_time_completed;
    if (steps !== undefined && isWhole) expect(findings.steps).toBe(steps);
    if (time !== undefined) expect(findings.finalTime).toBeCloseTo(time, 8);
    expect(Number.isFinite(findings.finalTime ?? 0)).toBe(true);
  });

  test("has the last residuals of every field", () => {
    for (const { field, region, initial, final } of residualsIn(truth)) {
      const found = findings.residuals.find((one) => one.field === field && one.region === region);
      expect(found, `${region ?? ""}/${field}`).toBeDefined();
      expectNear(found?.initial, initial);
      if (final !== null) expectNear(found?.final, final);
    }
  });

  test("is detected, and says the same when it is", () => {
    const auto = translate(translatorFor("auto"), linesOf(logBytes(folder, name)));
    expect(auto.findings).toEqual(findings);
    expect(auto.notes).toEqual(notes);
  });

  test("keeps a small state", () => {
    expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThan(16_384);
  });

  test("counts its starts", () => {
    const segments = Math.max(1, ...Object.values(truth.solver_info ?? {}).map((one) => one.segments.length));
    expect(findings.segments).toBe(segments);
  });
});

/** What a log that goes on leaves open is unknown to us. */
function endStateOf(truth: string | null): string {
  if (truth === "not_converged") return "finished_not_converged";
  return truth === null || truth === "running" ? "unknown" : truth;
}

function residualsIn(truth: LogTruth["truth"]) {
  const given = Object.entries(truth.residuals ?? {});
  const synthetic = given.map(([field, initial]) => ({ field, region: null, initial, final: null }));
  const real = Object.entries(truth.solver_info ?? {}).flatMap(([path, { segments }]) => {
    const region = path.includes("/") ? (path.split("/")[0] ?? null) : null;
    const fields = Object.entries(segments.at(-1)?.fields ?? {});
    return fields.map(([field, { last_initial: initial, last_final: final }]) => ({
      field,
      region,
      initial,
      final,
    }));
  });
  return [...synthetic, ...real];
}

function expectNear(found: number | undefined, true_: number): void {
  expect(Math.abs((found ?? Number.NaN) - true_)).toBeLessThanOrEqual(Math.abs(true_) * 1e-4);
}
