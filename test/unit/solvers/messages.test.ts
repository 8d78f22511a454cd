import { GetTaskResultV2Schema } from "@modelcontextprotocol/ext-tasks/core/v2";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hearMessages, newVoice, type VoiceState } from "../../../adapters/solvers/job-voice.ts";
import { readMessage } from "../../../adapters/solvers/messages.ts";
import { createPipeline } from "../../../adapters/solvers/pipeline.ts";

const SCHEMA = { type: "object", properties: { go: { type: "boolean" } } };

function heard(text: string | Uint8Array, chunk = 1_000_000, voice: VoiceState = newVoice()) {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const all = { notes: [] as unknown[], inputs: [] as unknown[] };
  for (let start = 0; start < bytes.length; start += chunk) {
    const { notes, inputs } = hearMessages(voice, bytes.subarray(start, start + chunk));
    all.notes.push(...notes);
    all.inputs.push(...inputs);
  }
  return all;
}

test.each([
  ["nonsense", "a message is one JSON object on one line"],
  ["[1]", "a message is one JSON object on one line"],
  ["{}", "a message's type is one of progress, metric, event, artifact, warning, input"],
  ['{"type":"constructor"}', "a message's type is one of progress, metric, event, artifact, warning, input"],
  ['{"type":"progress"}', "progress needs a number `current`"],
  ['{"type":"progress","current":1e999}', "progress needs a number `current`"],
  ['{"type":"progress","current":1,"total":"9"}', "`total` of progress is a number"],
  ['{"type":"progress","current":1,"unit":3}', "`unit` and `text` of progress are strings"],
  ['{"type":"metric","value":1}', "a metric needs a string `name`"],
  ['{"type":"metric","name":"x","value":"1"}', "a metric needs a number `value`"],
  ['{"type":"metric","name":"x","value":1,"unit":1}', "`unit` of a metric is a string"],
  [
    '{"type":"event","name":"Task Ended"}',
    "an event's `name` is words of a-z, 0-9 and _ with dots between them",
  ],
  ['{"type":"event","name":"a..b"}', "an event's `name` is words of a-z, 0-9 and _ with dots between them"],
  ['{"type":"event","name":"a","payload":[]}', "an event's `payload` is an object"],
  ['{"type":"artifact"}', "an artifact needs a string `path`"],
  ['{"type":"artifact","path":"x","note":1}', "an artifact's `note` is a string"],
  ['{"type":"warning"}', "a warning needs a string `text`"],
  [
    '{"type":"input","key":"../x","message":"?","schema":{}}',
    "an input's `key` is 1 to 64 letters, digits, _ . : -",
  ],
  ['{"type":"input","key":"x","schema":{}}', "an input needs a string `message`"],
  [
    '{"type":"input","key":"x","message":"?","schema":{"type":"string"}}',
    "an input's `schema` is a JSON Schema with type object and properties",
  ],
])("%s is no message, and the problem is named", (line, problem) => {
  expect(readMessage(line)).toEqual({ kind: "bad", problem });
});

test("a question becomes an elicitation that the tasks extension knows", () => {
  const line = JSON.stringify({ type: "input", key: "k.1", message: "Go on?", schema: SCHEMA });
  const { inputs } = heard(`${line}\n`);
  expect(inputs).toEqual([
    {
      key: "k.1",
      request: {
        method: "elicitation/create",
        params: { mode: "form", message: "Go on?", requestedSchema: SCHEMA },
      },
    },
  ]);
  const [{ key, request }] = inputs as [{ key: string; request: unknown }];
  const task = {
    resultType: "complete",
    taskId: "t_a",
    status: "input_required",
    createdAt: "2026-11-30T00:00:00Z",
    lastUpdatedAt: "2026-11-30T00:00:00Z",
    ttlMs: 1,
    inputRequests: { [key]: request },
  };
  expect(GetTaskResultV2Schema.safeParse(task).success).toBe(true);
});

test("a question is asked once, and a job asks at most 64", () => {
  const ask = (key: string) => `${JSON.stringify({ type: "input", key, message: "?", schema: SCHEMA })}\n`;
  expect(heard(ask("a") + ask("a") + ask("b")).inputs).toHaveLength(2);
  const many = heard(Array.from({ length: 70 }, (_, index) => ask(`k${index}`)).join(""));
  expect(many.inputs).toHaveLength(64);
  expect(JSON.stringify(many.notes)).toContain("a job asks at most 64 questions");
});

test("a key that comes again with another question is told as one, with the same question it is nothing new", () => {
  const ask = (key: string, message: string) =>
    `${JSON.stringify({ type: "input", key, message, schema: SCHEMA })}\n`;
  expect(heard(ask("a", "Go on?") + ask("a", "Go on?"))).toMatchObject({ inputs: [{ key: "a" }], notes: [] });
  expect(heard(ask("a", "Go on?") + ask("a", "Delete all?") + ask("b", "Delete all?"))).toMatchObject({
    inputs: [{ key: "a" }, { key: "b" }],
    notes: [
      {
        payload: {
          code: "bad_message",
          text: expect.stringContaining('the key "a" was used for another question: give each its own'),
        },
      },
    ],
  });
});

test.each([
  ["whole", '{"type":"event","name":"done"}', [{ type: "job.event.done", payload: {} }]],
  ["torn", '{"type":"event","na', [{ type: "solver.warning", payload: { code: "bad_message", count: 1 } }]],
  ["empty", "", []],
])("a last message without a line end that is %s is told as that when the job has ended", (_, text, told) => {
  const pipeline = createPipeline({ solver: "generic", total: null, unit: null, snapshot: null });
  pipeline.feed("messages", new TextEncoder().encode(text), { nowMs: 0, restarted: false });
  expect(pipeline.take(1_000, { final: false })).toEqual([]);
  expect(pipeline.take(2_000, { final: true })).toMatchObject(told);
});

test("what a job says is cut to its line and has no control characters but in a warning's text", () => {
  const line = JSON.stringify({
    type: "progress",
    current: 2,
    total: 8,
    unit: "a\nb",
    text: "\u001b[31mred",
  });
  expect(heard(`${line}\n`).notes).toEqual([
    {
      type: "solver.progress",
      payload: {
        current: 2,
        unit: "a b",
        total: 8,
        fraction: 0.25,
        totalBasis: "job",
        text: " [31mred",
        by: "job",
      },
      series: "job/progress",
    },
  ]);
});

test("a line over 32 KiB is counted and left out; the next one is heard", () => {
  const { notes } = heard(`${"x".repeat(200_000)}\n{"type":"warning","text":"after"}\n`, 5_000);
  expect(notes).toMatchObject([
    { payload: { code: "bad_message", text: expect.stringContaining("at most 32768 bytes"), count: 1 } },
    { payload: { code: "job", text: "after" } },
  ]);
});

test("bytes may come in any pieces, and a stop between them loses nothing", () => {
  const text =
    '{"type":"metric","name":"größe","value":1}\n\nnonsense\n{"type":"event","name":"a","payload":{"é":"ü"}}\n';
  const whole = heard(text);
  expect(whole.notes).toHaveLength(3);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), (chunk) => {
      let voice = newVoice();
      const notes: unknown[] = [];
      const bytes = new TextEncoder().encode(text);
      for (let start = 0; start < bytes.length; start += chunk) {
        notes.push(...hearMessages(voice, bytes.subarray(start, start + chunk)).notes);
        voice = JSON.parse(JSON.stringify(voice)) as VoiceState;
      }
      expect(notes).toEqual(whole.notes);
    }),
  );
});

test("no bytes whatever make it throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), fc.json(), (bytes, json) => {
      heard(bytes);
      heard(`${json}\n`);
      for (const type of ["progress", "metric", "event", "artifact", "warning", "input"]) {
        readMessage(JSON.stringify({ ...(JSON.parse(json) as object), type }));
      }
    }),
  );
});
