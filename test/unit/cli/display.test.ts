import { expect, test } from "vitest";
import { eventText, isNotable } from "../../../src/cli/display/event-line.ts";
import { readProgress, readResiduals, shortType } from "../../../src/cli/display/reading.ts";
import { isTaskOk, resultLines } from "../../../src/cli/display/result.ts";
import { bytesText, numberText } from "../../../src/cli/display/text.ts";
import type { JsonObject } from "../../../src/domain/json.ts";

const event = (type: string, payload: JsonObject = {}) => ({ seq: 0, type: `org.example.${type}`, payload });

test.each([
  ["task.accepted", { tool: "run", target: "here" }, "accepted: run on here"],
  ["job.submitted", { target: "here", jobId: "77" }, "submitted to here as job 77"],
  ["job.queued", { reason: "Priority" }, "queued (Priority)"],
  ["job.started", { nodes: ["c1", "c2"] }, "started on c1, c2"],
  ["job.started", { nodes: ["a", "b", "c", "d", "e"] }, "started on a, b, c and 2 more"],
  ["job.ended", { end: "exited", exitCode: 3, reason: null }, "the job ended: exited, exit code 3"],
  ["task.ended", { outcome: { kind: "diverged" } }, "ended: diverged"],
  ["artifact.created", { name: "out.vtk", bytes: 2048 }, "file out.vtk, 2.0 KiB"],
  ["input.requested", { key: "go", request: { params: { message: "Go on?" } } }, "input needed (go): Go on?"],
  ["solver.warning", { code: "w1", text: "mesh is skewed" }, "warning: mesh is skewed"],
  ["solver.progress", { current: 5, total: 10, unit: "step" }, "step 5 of 10 · 50 %"],
  ["solver.residual", { field: "p", value: 0.00031, final: 1e-7 }, "residuals p 3.10e-4"],
  ["solver.checkpoint", { at: 3 }, 'solver.checkpoint {"at":3}'],
])("%s says what happened in words", (type, payload, text) => {
  expect(eventText(event(type, payload as JsonObject))).toBe(text);
});

test("an event of an unknown vendor and kind keeps its type and payload", () => {
  expect(eventText({ seq: 1, type: "com.other.thing", payload: { a: [1] } })).toBe(
    'com.other.thing {"a":[1]}',
  );
  expect(shortType("com.other.thing")).toBe("com.other.thing");
  expect(shortType("solver.progress")).toBe("solver.progress");
});

test("residuals are read alone, in a list, in a map, merged, and when they are no numbers", () => {
  const read = (payload: JsonObject) => Object.fromEntries(readResiduals(payload));
  expect(read({ field: "Ux", value: 0.5, region: "air" })).toEqual({ "air/Ux": "0.5" });
  expect(
    read({
      residuals: [
        { field: "p", value: 1e-9 },
        { field: "k", value: { last: 2 } },
      ],
    }),
  ).toEqual({
    p: "1.00e-9",
    k: "2",
  });
  expect(read({ fields: { T: 0.25, e: { value: { nonfinite: "nan" } } } })).toEqual({ T: "0.25", e: "nan" });
  expect(read({ field: "p" })).toEqual({});
  expect(read({ residuals: [1, null, "x"] })).toEqual({});
});

test("progress is a part of the whole, however much of it is told", () => {
  expect(readProgress({ current: 3, total: 4 })).toMatchObject({ fraction: 0.75, unit: "step" });
  expect(readProgress({ fraction: 7 })).toMatchObject({ fraction: 1, current: null });
  expect(readProgress({ current: { value: 2, unit: "s" }, total: 0 })).toMatchObject({
    current: 2,
    fraction: null,
  });
  expect(readProgress({ eta_s: 60 })).toMatchObject({ etaSeconds: 60 });
});

test("what is drawn as a bar or a line does not scroll by as well", () => {
  expect(isNotable(event("solver.progress"))).toBe(false);
  expect(isNotable(event("solver.residual"))).toBe(false);
  expect(isNotable(event("solver.diverged"))).toBe(true);
  expect(isNotable(event("job.started"))).toBe(true);
});

const ENDED = {
  status: "completed",
  statusMessage: "succeeded · ran 12m on c3",
  result: {
    isError: false,
    content: [{ type: "text", text: "Succeeded" }],
    structuredContent: {
      metrics: { drag: 0.31, time: { value: 2, unit: "s" } },
      artifacts: [{ name: "a.vtk", bytes: 10, mediaType: "model/vtk" }],
      result: { ok: 1 },
    },
  },
} satisfies JsonObject;

test("a result shows outcome, metrics, files and the job's own result", () => {
  expect(resultLines(ENDED)).toEqual([
    "OK: succeeded · ran 12m on c3",
    "",
    "  drag  0.31",
    "  time  2 s",
    "",
    "  file   size  type",
    "  a.vtk  10 B  model/vtk",
    "",
    "{",
    '  "ok": 1',
    "}",
  ]);
});

test("a task is ok only when it completed without an error", () => {
  expect(isTaskOk(ENDED)).toBe(true);
  expect(isTaskOk({ ...ENDED, result: { ...ENDED.result, isError: true } })).toBe(false);
  expect(isTaskOk({ status: "cancelled" })).toBe(false);
  expect(isTaskOk({ status: "failed", error: { code: -32603, message: "lost" } })).toBe(false);
});

test("a failure shows the end of the job's own output below its outcome", () => {
  const text = "Failed · exit code 2\nLast lines:\n  | no such file";
  const lines = resultLines({
    status: "completed",
    statusMessage: "failed",
    result: { isError: true, content: [{ type: "text", text }] },
  });
  expect(lines).toEqual(["NOT OK: failed", "Last lines:", "| no such file"]);
  expect(resultLines({ status: "failed", error: { code: 1, message: "lost" } })).toEqual(["NOT OK: lost"]);
});

test("numbers and sizes are short, and small ones stay visible", () => {
  expect([0, 12, 1_234_567, 0.25, 1e-7, 123_456.789].map(numberText)).toEqual([
    "0",
    "12",
    "1234567",
    "0.25",
    "1.00e-7",
    "1.23e+5",
  ]);
  expect([0, 1023, 1536, 5 * 1024 ** 3].map(bytesText)).toEqual(["0 B", "1023 B", "1.5 KiB", "5.0 GiB"]);
});
