import { describe, expect, test } from "vitest";
import { translatorFor } from "../../../adapters/solvers/translators.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { linesOf, logBytes, type Translated, translate } from "../../support/solver-log.ts";

const openfoam = translatorFor("openfoam");
const SOLVE = "smoothSolver:  Solving for Ux, Initial residual = 0.5, Final residual = 0.01, No Iterations 3";
const CLOCK = "ExecutionTime = 1.5 s  ClockTime = 2 s";

function read(...lines: string[]): Translated {
  return translate(openfoam, linesOf(Buffer.from(`${lines.join("\n")}\n`)));
}

function payloads({ notes }: Translated, type: string): JsonObject[] {
  return notes.filter((note) => note.type === `solver.${type}`).map((note) => note.payload);
}

function bannerOf(program: string): string[] {
  return ["Build  : OPENFOAM=2306", `Exec   : ${program}`, "Case   : /case", "nProcs : 4"];
}

function step(time: number): string[] {
  return [`Time = ${time}`, "", SOLVE, CLOCK, ""];
}

describe("steps", () => {
  test("what is printed before Time belongs to the step that comes", () => {
    const told = read("Courant Number mean: 0.1 max: 0.4", "deltaT = 0.002", ...step(0.5));
    expect(payloads(told, "timestep")).toEqual([
      {
        index: 1,
        time: { value: 0.5, unit: "s" },
        committed: true,
        dt: { value: 0.002, unit: "s" },
        courant: { mean: 0.1, max: 0.4 },
        cpuSeconds: 1.5,
        wallSeconds: 2,
      },
    ]);
  });

  test("a field that is solved again in a step has the next corrector", () => {
    const told = read("Time = 1", SOLVE, SOLVE, CLOCK, ...step(2));
    expect(payloads(told, "residual").map((one) => [one["step"], one["corrector"]])).toEqual([
      [1, 0],
      [1, 1],
      [2, 0],
    ]);
    expect(told.notes.map((note) => note.series)).toContain("residual//Ux/1");
  });

  test("a step that was begun and not ended is not counted", () => {
    const { findings } = read(...step(1), "Time = 2", SOLVE);
    expect([findings.steps, findings.finalTime]).toEqual([1, 1]);
  });

  test("a mesh tool's times are no steps", () => {
    const { findings } = read(
      ...bannerOf("reconstructPar"),
      "Time = 10",
      "Reconstructing FV fields",
      "Time = 20",
      "End",
    );
    expect([findings.steps, findings.finalTime, findings.endMarker]).toEqual([0, null, true]);
  });

  test("a declared total is a bound for a steady run", () => {
    let state = openfoam.start({ total: 400, unit: "iterations" });
    const lines = linesOf(Buffer.from(`SIMPLE: convergence criteria\n${step(1).join("\n")}\n`));
    const notes = lines.flatMap((line) => {
      const told = openfoam.step(state, line);
      state = told.state;
      return told.notes;
    });
    expect(notes.find((note) => note.type === "solver.progress")?.payload).toEqual({
      current: 1,
      unit: "iterations",
      total: 400,
      fraction: 1 / 400,
      totalBasis: "declared",
      totalIsUpperBound: true,
    });
  });
});

describe("solves", () => {
  test("a coupled vector has one residual for each component", () => {
    const told = read(
      "Time = 1",
      "smoothSolver:  Solving for U, Initial residual = (1 0.5 nan), Final residual = (0.1 0.05 nan), No Iterations (3 4 5)",
    );
    expect(payloads(told, "residual").map((one) => [one["field"], one["value"], one["iterations"]])).toEqual([
      ["Ux", 1, 3],
      ["Uy", 0.5, 4],
      ["Uz", { nonfinite: "nan" }, 5],
    ]);
    expect(told.findings.diverged).toBe("residual of Uz is nan");
  });

  test("a region comes from its own line, or from the solve's beginning", () => {
    const told = read("Time = 1", "Solving for solid region heater", SOLVE, `air     ${SOLVE}`);
    expect(payloads(told, "residual").map((one) => one["region"])).toEqual(["heater", "air"]);
  });

  test("limiting a phase fraction is no solve", () => {
    const told = read("Time = 1", "MULES: Solving for alpha.air", "MULES: Correcting alpha.water", CLOCK);
    expect(payloads(told, "residual")).toEqual([]);
    expect(told.findings.steps).toBe(1);
  });

  test("of two ranks' lines in one, only the whole one is read", () => {
    const told = translate(openfoam, linesOf(logBytes("traps", "mpi_interleaved")));
    expect(payloads(told, "residual").map((one) => [one["field"], one["value"]])).toEqual([["Uy", 0.3]]);
  });

  test("a solve inside a sentence is not one", () => {
    const told = read("Time = 1", `the log says "${SOLVE}"`, `note: ${SOLVE} and so on`);
    expect(payloads(told, "residual")).toEqual([]);
  });
});

describe("bounds", () => {
  const fraction = (min: number, max: number) =>
    `Phase-1 volume fraction = 0.1  Min(alpha.water) = ${min}  Max(alpha.water) = ${max}`;

  test("a run that ends with a phase fraction out of its bounds has diverged", () => {
    const told = read(...step(1), fraction(-0.39, 1), "End");
    expect(told.findings.diverged).toBe("alpha.water is -0.39");
    expect(payloads(told, "diverged")).toEqual([
      { reason: "unbounded", fatal: false, field: "alpha.water", value: -0.39 },
    ]);
  });

  test("a run that came back has not", () => {
    expect(read(...step(1), fraction(0, 1.08), fraction(0, 1), "End").findings.diverged).toBeNull();
  });

  test("minima, maxima and what was put back are metrics", () => {
    const told = read(
      "bounding k, min: -0.5 max: 2 average: 0.1",
      "Min/max T:300 500",
      "rho min/max : 1 2",
      "Mean and max Courant Numbers = 0.1 0.2",
    );
    expect(told.findings.metrics).toEqual({ "bounding.k": -0.5, T: 500, rho: 2, "courant.max": 0.2 });
  });
});

describe("starts", () => {
  test("the banner tells program, version and ranks", () => {
    expect(payloads(read(...bannerOf("simpleFoam -parallel")), "started")).toEqual([
      {
        solver: "openfoam",
        version: "2306",
        build: "OPENFOAM=2306",
        application: "simpleFoam -parallel",
        case: "/case",
        ranks: 4,
      },
    ]);
  });

  test("the same program's second banner is a restart, and what failed before is over", () => {
    const told = read(
      ...bannerOf("icoFoam"),
      ...step(1),
      ...step(2),
      "--> FOAM FATAL ERROR:",
      "disk is full",
      "",
      ...bannerOf("icoFoam"),
      ...step(1.5),
      "End",
    );
    expect(payloads(told, "restarted")).toEqual([
      {
        from: { value: 1.5, unit: "s" },
        previousLast: { value: 2, unit: "s" },
        reason: "banner",
        segment: 1,
      },
    ]);
    expect(told.findings).toMatchObject({ segments: 2, steps: 3, fatal: null, endMarker: true });
  });

  test("time that goes back is a restart without a banner", () => {
    const told = read(...step(2), ...step(1));
    expect(payloads(told, "restarted").map((one) => one["reason"])).toEqual(["time_went_back"]);
  });

  test("a tool after the solver keeps what the solver came to", () => {
    const told = read(
      ...bannerOf("simpleFoam"),
      ...step(9),
      "SIMPLE solution converged in 9 iterations",
      "End",
      ...bannerOf("reconstructPar"),
      "Time = 9",
      "End",
    );
    expect(told.findings).toMatchObject({ segments: 1, steps: 1, converged: true, endMarker: true });
  });
});

describe("ends", () => {
  test("a fatal error is told with its message, whichever rank says it", () => {
    const { findings } = read(
      "[1] ",
      "[1] --> FOAM FATAL IO ERROR: (openfoam-2306)",
      "[1] no field p",
      "[1] ",
      "FOAM exiting",
    );
    expect(findings.fatal).toBe("FOAM FATAL IO ERROR: no field p");
  });

  test("a fatal error after nan is how the run diverged", () => {
    const { findings } = read("Time = 1", SOLVE.replace("0.01", "nan"), "--> FOAM FATAL ERROR:", "bad token");
    expect([findings.fatal, findings.diverged]).toEqual([null, "residual of Ux is nan"]);
  });

  test("a trapped exception is a divergence, an access violation a fault", () => {
    expect(read("#1  Foam::sigFpe::sigHandler(int) at ??:?").findings.diverged).toBe(
      "floating point exception",
    );
    expect(read("#1  Foam::sigSegv::sigHandler(int) at ??:?").findings.fatal).toBe("segmentation fault");
    expect(
      read("trapFpe: Floating point exception trapping enabled (FOAM_SIGFPE).").findings.diverged,
    ).toBeNull();
  });

  test("criteria that were not met by the end are said", () => {
    const told = read("SIMPLE: convergence criteria", ...step(1), "End");
    expect(told.findings.converged).toBe(false);
    expect(payloads(told, "not_converged")).toMatchObject([{ scope: "run", limit: 1 }]);
  });

  test("an inner loop's convergence is not the run's", () => {
    const told = read(
      "Time = 1",
      "PIMPLE: not converged within 5 iterations",
      "PIMPLE: Converged in 2 iterations",
    );
    expect(told.findings.converged).toBeNull();
    expect(
      [...payloads(told, "not_converged"), ...payloads(told, "converged")].map((one) => one["scope"]),
    ).toEqual(["inner", "inner"]);
  });

  test("a stop on request is graceful", () => {
    expect(read("Stopped by SIGTERM at time 3: written").findings.stoppedByRequest).toBe(true);
  });
});

describe("warnings", () => {
  const warning = (n: number) => [
    "--> FOAM Warning : ",
    "    From function f()",
    "    in file a/b.C at line 7",
    `    value ${n}`,
    "",
  ];

  test("one of each kind is said, then each tenfold", () => {
    const told = read(...Array.from({ length: 25 }, (_, n) => warning(n)).flat());
    expect(payloads(told, "warning")).toEqual([
      { code: "b.C:7", text: "value 0", count: 1 },
      { code: "b.C:7", text: "value 9", count: 10 },
    ]);
    expect(told.findings.warnings).toBe(25);
  });

  test("what follows a one-line warning is read as usual", () => {
    const told = read("Time = 1", "--> FOAM Warning : too far", SOLVE, CLOCK);
    expect([told.findings.steps, payloads(told, "residual").length]).toEqual([1, 1]);
  });

  test("a log that ends inside a warning still says it", () => {
    const lines = linesOf(logBytes("openfoam", "reconstructpar_no_times"));
    expect(payloads(translate(openfoam, lines), "warning")).toMatchObject([{ text: "No times selected" }]);
  });
});

describe("state", () => {
  const long = '\u{1F600}"'.repeat(200);

  test("stays within 16 KiB on names, numbers and texts of any length", () => {
    const many = Array.from({ length: 300 }, (_, n) => `${"x".repeat(n % 70)}${n}`);
    const number = "-1.2345678901234567e-300";
    const lines = [1, 2].flatMap((time) => [
      `Build  : OPENFOAM=${long}`,
      `Exec   : ${long}`,
      `Case   : ${long}`,
      `Time = ${time}`,
      ...many.map((name) => SOLVE.replace("Ux", name).replace("0.5", number).replace("0.01", number)),
      ...many.map((name) => `bounding ${name}, min: ${number} max: 1 average: 1`),
      ...many.map(
        (name) => `Phase-1 volume fraction = 1  Min(${name}) = -2.345678901234567  Max(${name}) = 1`,
      ),
      ...many.map((name) => `--> FOAM Warning : ${name.replaceAll(/\d/g, "ab")} ${long}`),
      `Solving for solid region ${long}`,
      CLOCK,
    ]);
    let state = openfoam.start({ total: 1, unit: long });
    for (const line of linesOf(Buffer.from(`${lines.join("\n")}\n`))) {
      state = openfoam.step(state, line).state;
      expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThan(16_384);
    }
  });
});
