import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { costOf, isWithin, TASK_BUDGET } from "../../../adapters/solvers/budget.ts";
import { createPipeline } from "../../../adapters/solvers/pipeline.ts";
import type { EventDraft } from "../../../src/domain/event.ts";
import type { Json } from "../../../src/domain/json.ts";
import type { LogPipeline } from "../../../src/domain/translator.ts";

const LOGS = new URL("../../fixtures/logs/", import.meta.url);
const START_MS = 1_700_000_000_000;

function pipelineOf(snapshot: Json = null, solver = "auto"): LogPipeline {
  return createPipeline({ solver, total: null, unit: null, snapshot });
}

function resumed(pipeline: LogPipeline): LogPipeline {
  return pipelineOf(JSON.parse(JSON.stringify(pipeline.snapshot())));
}

type Run = {
  readonly bytes: Uint8Array;
  readonly chunk: number;
  readonly everyMs: number;
  /** After which chunks the pipeline is stopped and gone on with from its snapshot. */
  readonly stops: ReadonlySet<number>;
};

function eventsOf({ bytes, chunk, everyMs, stops }: Run): {
  events: EventDraft[];
  told: unknown;
  largest: number;
} {
  let pipeline = pipelineOf();
  const events: EventDraft[] = [];
  let nowMs = START_MS;
  let largest = 0;
  for (let index = 0; index * chunk < bytes.length; index += 1) {
    const part = bytes.subarray(index * chunk, (index + 1) * chunk);
    pipeline.feed("stdout", part, { nowMs, restarted: false });
    events.push(...pipeline.take(nowMs, { final: false }));
    if (stops.has(index)) {
      largest = Math.max(largest, JSON.stringify(pipeline.snapshot()).length);
      pipeline = resumed(pipeline);
    }
    nowMs += everyMs;
  }
  events.push(...pipeline.take(nowMs, { final: true }));
  return { events, told: [pipeline.findings(), pipeline.progress(), pipeline.tail()], largest };
}

const CASES = ["openfoam", "traps"].flatMap((folder) =>
  readdirSync(new URL(`${folder}/`, LOGS))
    .filter((name) => name.endsWith(".log"))
    .map((name) => `${folder}/${name}`),
);

describe.each(CASES)("%s", (name) => {
  const bytes = readFileSync(new URL(name, LOGS)).subarray(0, 300_000);
  const chunk = Math.max(512, Math.ceil(bytes.length / 60));

  test("stopped anywhere and gone on with from JSON, the pipeline says the same, and its state stays small", () => {
    const whole = eventsOf({ bytes, chunk, everyMs: 150, stops: new Set() });
    const stops = fc.array(fc.nat({ max: 60 }), { maxLength: 20 });
    fc.assert(
      fc.property(stops, (places) => {
        const { events, told, largest } = eventsOf({ bytes, chunk, everyMs: 150, stops: new Set(places) });
        expect(events).toEqual(whole.events);
        expect(told).toEqual(whole.told);
        expect(largest).toBeLessThan(100_000);
      }),
      { numRuns: 4 },
    );
  });

  test("its events fit the budget of a task and the limit of a payload", () => {
    const { events } = eventsOf({ bytes, chunk, everyMs: 1, stops: new Set() });
    expect(isWithin(costOf(events), TASK_BUDGET)).toBe(true);
    for (const { payload } of events) {
      expect(Buffer.byteLength(JSON.stringify(payload))).toBeLessThanOrEqual(8192);
    }
  });
});

test("a quarter of a megabyte of a solver's log costs at most 50 ms of a core, at best of ten", () => {
  const text = readFileSync(new URL("openfoam/cavity_plain.log", LOGS));
  const bytes = Buffer.concat(Array.from({ length: 20 }, () => text)).subarray(0, 256 * 1024);
  const pipeline = pipelineOf(null, "openfoam");
  const times = Array.from({ length: 10 }, (_, index) => {
    const before = process.cpuUsage();
    const nowMs = START_MS + index * 100;
    pipeline.feed("stdout", bytes, { nowMs, restarted: false });
    pipeline.take(nowMs, { final: false });
    return process.cpuUsage(before).user / 1000;
  });
  expect(Math.min(...times)).toBeLessThan(50);
});
