import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { translate } from "../../support/translate.ts";

const LOG = "[1/4] make a\n[2/4] make b\r\n\u001b[32m[3/4]\u001b[0m make c ├\nEpoch 1/2\n[4/";

let folder = "";
let log = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tailrace-translate-"));
  log = join(folder, "run.log");
  await writeFile(log, LOG);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const finished = { type: "dev.tailrace.solver.finished" };

describe("tailrace translate", () => {
  it("prints one event per line, and solver.finished last", async () => {
    const { code, events } = await translate([log, "--solver", "generic", "--exit-code", "0"]);
    expect(code).toBe(0);
    expect(events.map(({ type, payload }) => [type, payload["current"]])).toEqual([
      ["dev.tailrace.solver.progress", 1],
      ["dev.tailrace.solver.progress", 2],
      ["dev.tailrace.solver.progress", 3],
      ["dev.tailrace.solver.progress", 1],
      ["dev.tailrace.solver.finished", undefined],
    ]);
    expect(events.at(-1)?.payload).toEqual({
      solver: "generic",
      endState: "finished",
      steps: 0,
      finalTime: null,
      residuals: [],
      metrics: {},
      segments: 1,
      warnings: 0,
      basis: ["exit_code:0"],
    });
  });

  it("says unknown where neither log nor caller tell, and hears what the caller knows", async () => {
    const endOf = async (...known: string[]) => {
      const { events } = await translate([log, "--solver", "generic", ...known]);
      return events.at(-1)?.payload["endState"];
    };
    expect(await endOf()).toBe("unknown");
    expect(await endOf("--exit-code", "3")).toBe("failed");
    expect(await endOf("--signal", "15")).toBe("stopped");
  });

  it("says the same from stdin, and with the log cut as it arrived", async () => {
    const trace = join(folder, "trace.json");
    const sizes = [5, 1, 0, 21, 3, 17, 1, 1, 1];
    await writeFile(trace, JSON.stringify(sizes.map((bytes, index) => [index / 10, bytes])));
    const whole = await translate([log]);
    expect(await translate(["-", "--chunks", trace], LOG)).toEqual(whole);
    expect(await translate([log, "--chunks", trace])).toEqual(whole);
  });

  it("reads bytes that are no text at all", async () => {
    const junk = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7919 + (index >> 3)) % 256);
    const { code, events } = await translate(["-"], junk);
    expect(code).toBe(0);
    expect(events.at(-1)).toMatchObject({ ...finished, payload: { endState: "unknown" } });
  });

  it("has something to say of an empty log", async () => {
    const { code, events } = await translate(["-"], "");
    expect([code, events.length]).toEqual([0, 1]);
    expect(events[0]).toMatchObject(finished);
  });
});

describe("a wrong command line", () => {
  it("names the file and what is wrong with it", async () => {
    const missing = await translate([join(folder, "nothing.log")]);
    expect(missing).toMatchObject({ code: 1, events: [] });
    expect(missing.said).toContain(`cannot read ${folder}/nothing.log: there is no such file`);
    const directory = await translate([folder]);
    expect(directory).toMatchObject({ code: 1, events: [] });
    expect(directory.said).toContain("it is a directory");
  });

  it("says how an arrival trace looks", async () => {
    const { code, said } = await translate([log, "--chunks", log]);
    expect(code).toBe(2);
    expect(said).toContain(`${log} is no arrival trace: expected JSON such as [[0.01, 4096]`);
  });

  it("lists the solvers that there are", async () => {
    const { code, said } = await translate([log, "--solver", "openfaom"]);
    expect(code).toBe(2);
    expect(said).toMatch(/Allowed choices are auto, .*generic/);
  });

  it("refuses a signal that does not exist", async () => {
    const { code, said } = await translate([log, "--signal", "99"]);
    expect(code).toBe(2);
    expect(said).toContain("1 to 64");
  });
});
