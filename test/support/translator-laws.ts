import { readFileSync } from "node:fs";
import { createLineFramer } from "../../adapters/solvers/lines.ts";
import type { Json, JsonObject } from "../../src/domain/json.ts";
import type { Line, Note, Translator } from "../../src/domain/translator.ts";
import { randomFrom } from "./random.ts";

const LOGS = new URL("../fixtures/logs/", import.meta.url);

/** Sizes of the reads in which a log came, from its arrival trace; null when it has none. */
export function arrivalSizes(folder: string, name: string): number[] | null {
  try {
    const trace: [number, number][] = JSON.parse(
      readFileSync(new URL(`chunks/${folder}__${name}.json`, LOGS), "utf8"),
    );
    return trace.map(([, bytes]) => bytes);
  } catch {
    return null; // not every log was recorded
  }
}

/** `count` sizes around those of real reads: often a few bytes, sometimes a block. */
export function randomSizes(seed: number, count: number): number[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => Math.floor(random() ** 4 * 8192) + 1);
}

/** One text for all that a fold said, to be compared at once. */
export type Said = { readonly notes: string[]; readonly findings: string };

/** The log in chunks of these sizes (the last takes what is left), through one framer and one fold. */
export function sayInChunks(translator: Translator, bytes: Uint8Array, sizes: readonly number[]): Said {
  const framer = createLineFramer("stdout");
  let state = translator.start({ total: null, unit: null });
  const notes: string[] = [];
  const read = (lines: readonly Line[]) => {
    for (const line of lines) {
      const step = translator.step(state, line);
      state = step.state;
      for (const note of step.notes) notes.push(JSON.stringify(note));
    }
  };
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    if (at >= bytes.length) break;
    read(framer.feed(bytes.subarray(at, at + size)));
    at += size;
  }
  read(framer.flush());
  return { notes, findings: JSON.stringify(translator.findings(state)) };
}

/** The same, and at each of these byte positions everything is stored as JSON and built again from it. */
export function sayWithStops(translator: Translator, bytes: Uint8Array, stops: readonly number[]): Said {
  let framer = createLineFramer("stdout");
  let state: JsonObject = translator.start({ total: null, unit: null });
  const notes: string[] = [];
  const read = (lines: readonly Line[]) => {
    for (const line of lines) {
      const step = translator.step(state, line);
      state = step.state;
      for (const note of step.notes) notes.push(JSON.stringify(note));
    }
  };
  let at = 0;
  for (const stop of [...stops].sort((a, b) => a - b)) {
    read(framer.feed(bytes.subarray(at, stop)));
    at = stop;
    const stored: { framer: Json; state: JsonObject } = JSON.parse(
      JSON.stringify({ framer: framer.snapshot(), state }),
    );
    framer = createLineFramer("stdout", stored.framer);
    state = stored.state;
  }
  read(framer.feed(bytes.subarray(at)));
  read(framer.flush());
  return { notes, findings: JSON.stringify(translator.findings(state)) };
}

/** Reads the lines and gives back the biggest state there was, in bytes of JSON, looking after each `every` lines. */
export function biggestState(translator: Translator, lines: Iterable<Line>, every = 1): number {
  let state = translator.start({ total: null, unit: null });
  let biggest = 0;
  let count = 0;
  for (const line of lines) {
    state = translator.step(state, line).state;
    count += 1;
    if (count % every === 0) biggest = Math.max(biggest, Buffer.byteLength(JSON.stringify(state)));
  }
  return biggest;
}

/** What is wrong with a note, or null: it must be JSON with finite numbers only, and a type of the solvers' own. */
export function noteFault(note: Note): string | null {
  if (!/^solver\.[a-z_]+$/.test(note.type)) return `type ${note.type}`;
  if (JSON.stringify(note.payload).length > 8192) return "payload over 8 KiB";
  return jsonFault(note.payload, "payload");
}

function jsonFault(value: unknown, path: string): string | null {
  if (value === null || typeof value === "string" || typeof value === "boolean") return null;
  if (typeof value === "number") return Number.isFinite(value) ? null : `${path} is ${value}`;
  if (typeof value !== "object") return `${path} is ${typeof value}`;
  for (const [key, member] of Object.entries(value)) {
    const fault = jsonFault(member, `${path}.${key}`);
    if (fault !== null) return fault;
  }
  return null;
}
