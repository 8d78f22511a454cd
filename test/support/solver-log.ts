import { readdirSync, readFileSync } from "node:fs";
import { z } from "zod";
import { createLineFramer } from "../../adapters/solvers/lines.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { Findings, Line, Note, Translator } from "../../src/domain/translator.ts";

const LOGS = new URL("../fixtures/logs/", import.meta.url);

const FieldTruth = z.object({ last_initial: z.number(), last_final: z.number() });
const SegmentTruth = z.object({
  rows: z.number(),
  last_time: z.number(),
  fields: z.record(z.string(), FieldTruth),
});

/** What is known of a log besides the log: the parts of its JSON that tests speak of. */
export const LogTruth = z.object({
  stream: z.object({
    exit_code: z.number().nullable().default(null),
    signal: z.number().nullable().default(null),
    truncated_middle: z.unknown().optional(),
  }),
  truth: z.looseObject({
    end_state: z.string().nullable().default(null),
    steps: z.number().optional(),
    final_time: z.number().optional(),
    steps_completed: z.number().optional(),
    final_time_completed: z.number().optional(),
    residuals: z.record(z.string(), z.number()).optional(),
    solver_info: z.record(z.string(), z.object({ segments: z.array(SegmentTruth) })).optional(),
  }),
});
export type LogTruth = z.infer<typeof LogTruth>;

/** Names of the logs in a folder of the fixtures, without their ending. */
export function logNames(folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, LOGS))
    .filter((file) => file.endsWith(".log"))
    .map((file) => file.slice(0, -".log".length));
}

export function logBytes(folder: string, name: string): Buffer {
  return readFileSync(new URL(`${folder}/${name}.log`, LOGS));
}

export function logTruth(folder: string, name: string): LogTruth {
  return LogTruth.parse(JSON.parse(readFileSync(new URL(`${folder}/${name}.json`, LOGS), "utf8")));
}

/** The whole log in one chunk, as lines. */
export function linesOf(bytes: Uint8Array): Line[] {
  const framer = createLineFramer("stdout");
  return [...framer.feed(bytes), ...framer.flush()];
}

export type Translated = {
  readonly notes: readonly Note[];
  readonly findings: Findings;
  readonly state: JsonObject;
};

export function translate(translator: Translator, lines: readonly Line[]): Translated {
  let state = translator.start({ total: null, unit: null });
  const notes: Note[] = [];
  for (const line of lines) {
    const read = translator.step(state, line);
    state = read.state;
    notes.push(...read.notes);
  }
  return { notes, findings: translator.findings(state), state };
}
