import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { createLiveDisplay } from "../../../src/cli/display/live.ts";
import type { Shell } from "../../../src/cli/shell.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { eventually } from "../../support/eventually.ts";

/** A terminal that keeps what is written to it. */
function terminal() {
  let written = "";
  const stream = Object.assign(
    new Writable({
      write(chunk: Buffer, _, done) {
        written += chunk.toString();
        done();
      },
    }),
    { isTTY: true, columns: 200, rows: 50 },
  ) as unknown as NodeJS.WriteStream;
  const printed: string[] = [];
  const shell: Shell = {
    env: {},
    cwd: "/",
    pid: 1,
    print: (line) => void printed.push(line),
    tell: (line) => void stream.write(`${line}\n`),
    stdout: stream,
    stderr: stream,
    stdin: process.stdin,
  };
  return { shell, printed, written: () => written };
}

const event = (seq: number, type: string, payload: JsonObject) =>
  ({ kind: "event", event: { seq, type: `dev.tailrace.${type}`, payload } }) as const;

/** What the progress bar itself writes: cursor on and off, wrapping, moves, clearing; and colours. */
const ESCAPE = "\u001b";
const OWN = new RegExp(`${ESCAPE}\\[(?:\\?25[lh]|\\?7[lh]|\\d*[ABCDGJKm])|[\\r\\n]`, "g");

test("the bar shows how far the job is, and one line below it the newest residual of each series", async () => {
  const { shell, written } = terminal();
  const display = createLiveDisplay(shell);
  display.news(event(0, "solver.progress", { current: 30, total: 60, unit: "step" }));
  display.news(event(1, "solver.residual", { field: "p", value: 0.5 }));
  display.news(event(2, "solver.residual", { field: "Ux", value: 0.25 }));
  display.news(event(3, "solver.residual", { field: "p", value: 3.1e-4 }));
  await eventually(() => expect(written()).toContain("Ux 0.25  p 3.10e-4"));
  expect(written()).toContain("step 30 of 60 · 50 %");
  display.stop();
});

test("warnings, gaps and the server's absence scroll by above the bar; steps do not", async () => {
  const { shell, written, printed } = terminal();
  const display = createLiveDisplay(shell);
  display.news(event(0, "solver.warning", { text: "skewed mesh" }));
  display.news({ kind: "gap", fromSeq: 1, toSeq: 7 });
  display.away("ECONNREFUSED", 500);
  display.news(event(8, "solver.timestep", { index: 77 }));
  await eventually(() => expect(written()).toContain("the server does not answer (ECONNREFUSED)"));
  expect(written()).toContain("warning: skewed mesh");
  expect(written()).toContain("WARNING: events 1 to 7 are missing");
  expect(written()).not.toContain("77");
  display.result({ status: "cancelled", statusMessage: "cancelled" });
  expect(printed).toEqual(["NOT OK: cancelled"]);
});

test("nothing that a log says moves the cursor or changes a colour", async () => {
  const { shell, written } = terminal();
  const display = createLiveDisplay(shell);
  const nasty = "\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\u0008end";
  display.news(event(0, "solver.warning", { text: nasty }));
  display.news(event(1, "solver.progress", { current: 1, unit: nasty }));
  display.news(event(2, "solver.residual", { field: nasty, value: 1 }));
  display.news(event(3, "job.started", { nodes: [nasty] }));
  await eventually(() => expect(written()).toContain("end"));
  display.stop();
  expect(written().replace(OWN, "")).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
});
