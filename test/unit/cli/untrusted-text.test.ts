import fc from "fast-check";
import { expect, test } from "vitest";
import { eventText } from "../../../src/cli/display/event-line.ts";
import { resultLines } from "../../../src/cli/display/result.ts";
import { jsonText, shown, shownLines } from "../../../src/cli/display/text.ts";
import { findingText } from "../../../src/cli/doctor/finding-text.ts";
import type { Json, JsonObject } from "../../../src/domain/json.ts";

/** Everything that moves a cursor, changes a colour, sets a title, or turns the direction of text. */
const ACTIVE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const NASTY = [
  "\u001b[2J\u001b[1;1Hroot@host:~# ",
  "\u001b]0;title\u0007",
  "\u009b31mred",
  "one\r\ntwo\rthree\u2028four",
  "\u202egnp.exe",
  "\u0000\u0008\u007f",
];
const nasty = fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: "binary", maxLength: 20 }));
const json: fc.Arbitrary<Json> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    nasty,
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    tie("list"),
    tie("map"),
  ),
  list: fc.array(tie("value"), { maxLength: 3 }),
  map: fc.dictionary(
    fc.oneof(
      nasty,
      fc.constantFrom(
        "field",
        "value",
        "text",
        "reason",
        "nodes",
        "outcome",
        "request",
        "params",
        "message",
        "name",
      ),
      fc.constantFrom(
        "residuals",
        "fields",
        "current",
        "total",
        "unit",
        "fraction",
        "jobId",
        "end",
        "key",
        "bytes",
      ),
    ),
    tie("value"),
    { maxKeys: 6 },
  ),
})).value as fc.Arbitrary<Json>;
const payloads = fc.dictionary(
  fc.constantFrom(
    "field",
    "value",
    "residuals",
    "text",
    "code",
    "reason",
    "nodes",
    "outcome",
    "request",
    "tool",
    "current",
  ),
  json,
) as fc.Arbitrary<JsonObject>;
const types = fc.oneof(
  nasty,
  fc
    .constantFrom(
      ...[
        "solver.residual",
        "solver.progress",
        "solver.warning",
        "solver.diverged",
        "job.started",
        "job.ended",
      ],
      ...["task.accepted", "task.ended", "input.requested", "artifact.created", "log.lines", "odd.thing"],
    )
    .map((type) => `dev.tailrace.${type}`),
);

test("an event is one line that acts on nothing, whatever a log put into it", () => {
  fc.assert(
    fc.property(fc.nat(), types, payloads, (seq, type, payload) => {
      const text = eventText({ seq, type, payload });
      expect(text).not.toMatch(ACTIVE);
      expect(text.length).toBeLessThanOrEqual(300);
      expect(text).not.toBe("");
    }),
  );
});

test("no line of a result acts on anything, whatever the task says", () => {
  const tasks = fc.record({
    status: nasty,
    statusMessage: nasty,
    result: fc.record({
      isError: fc.boolean(),
      content: fc.array(fc.record({ type: fc.constant("text"), text: nasty }), { maxLength: 2 }),
      structuredContent: fc.record({
        metrics: fc.dictionary(nasty, json, { maxKeys: 3 }),
        artifacts: fc.array(fc.record({ name: nasty, bytes: fc.nat(), mediaType: nasty }), { maxLength: 3 }),
        result: json,
      }),
    }),
  });
  fc.assert(
    fc.property(tasks, (task) => {
      for (const line of resultLines(task as JsonObject)) expect(line).not.toMatch(ACTIVE);
    }),
  );
});

test("JSON for scripts holds the same data, with nothing that acts on a terminal", () => {
  fc.assert(
    fc.property(json, (value) => {
      const text = jsonText({ value });
      expect(text).not.toMatch(ACTIVE);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ value })));
    }),
  );
});

test.each(NASTY)("the text %j is shown without what acts", (text) => {
  expect(shown(text)).not.toMatch(ACTIVE);
  for (const line of shownLines(text)) expect(line).not.toMatch(ACTIVE);
});

test("what a scheduler answers to doctor is shown without what acts", () => {
  const finding = {
    area: "target",
    what: "slurm",
    status: "ok",
    found: NASTY.join(""),
    advice: NASTY.join(""),
  } as const;
  for (const line of findingText(finding, (text) => text).split("\n")) expect(line).not.toMatch(ACTIVE);
});
