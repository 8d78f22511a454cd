import type { Json, JsonObject } from "../../src/domain/json.ts";
import type { Line, Note, Translator } from "../../src/domain/translator.ts";

const HEAD_LINES = 200;
/** Lines that are kept for the translator that is chosen, in UTF-8 bytes of their JSON; older ones leave. */
const HEAD_BYTES = 8192;
/** Sure enough to choose at once. */
const SURE = 0.8;
/** Enough when the head is over. */
const LIKELY = 0.5;

type Options = Parameters<Translator["start"]>[0];

/** `chosen` is null while undecided; `inner` is the state of the chosen translator, or the fallback's until then. */
type AutoState = {
  readonly kind: "auto/1";
  readonly options: { total: number | null; unit: string | null };
  chosen: string | null;
  /** Lines as `pack` writes them. */
  head: string[];
  seen: number;
  inner: JsonObject;
};

/**
 * A translator that finds out which one fits. Until it knows, the fallback reads (a progress bar shows at once) and
 * lines are kept; the one that is chosen reads those first, in order.
 */
export function createAutoTranslator(candidates: readonly Translator[], fallback: Translator): Translator {
  const byName = new Map([...candidates, fallback].map((one) => [one.name, one]));
  const start = ({ total, unit }: Options): AutoState => ({
    kind: "auto/1",
    options: { total, unit },
    chosen: null,
    head: [],
    seen: 0,
    inner: fallback.start({ total, unit }),
  });
  const auto: Translator = {
    name: "auto",
    detect: () => 0,
    start,
    step(given, line) {
      const state = isAutoState(given) ? given : start({ total: null, unit: null });
      if (state.chosen !== null) {
        const { state: inner, notes } = (byName.get(state.chosen) ?? fallback).step(state.inner, line);
        state.inner = inner;
        return { state, notes };
      }
      return { state, notes: stepUndecided(state, line, { candidates, fallback }) };
    },
    findings(given) {
      const state = isAutoState(given) ? given : start({ total: null, unit: null });
      return (byName.get(state.chosen ?? fallback.name) ?? fallback).findings(state.inner);
    },
  };
  return auto;
}

type Choice = { readonly candidates: readonly Translator[]; readonly fallback: Translator };

function stepUndecided(state: AutoState, line: Line, { candidates, fallback }: Choice): Note[] {
  keep(state, line);
  state.seen += 1;
  const isOver = state.seen >= HEAD_LINES;
  const head = state.head.map((packed) => packed.slice(FLAGS));
  const chosen = best(candidates, head, isOver || line.partial ? LIKELY : SURE);
  if (chosen === null) {
    const { state: inner, notes } = fallback.step(state.inner, line);
    state.inner = inner;
    if (isOver) decide(state, fallback.name);
    return [...notes];
  }
  let inner = chosen.start(state.options);
  const notes: Note[] = [];
  for (const packed of state.head) {
    const read = chosen.step(inner, unpack(packed));
    inner = read.state;
    notes.push(...read.notes);
  }
  state.inner = inner;
  decide(state, chosen.name);
  return notes;
}

function decide(state: AutoState, name: string): void {
  state.chosen = name;
  state.head = [];
}

/** The surest; the first of those that are equally sure. */
function best(candidates: readonly Translator[], head: readonly string[], least: number): Translator | null {
  let found: Translator | null = null;
  let surest = least;
  for (const candidate of candidates) {
    const score = candidate.detect(head);
    if (score > surest || (score === surest && found === null)) [found, surest] = [candidate, score];
  }
  return found;
}

function keep(state: AutoState, line: Line): void {
  const packed = pack(line);
  state.head.push(
    sizeOf(packed) <= HEAD_BYTES ? packed : pack({ ...line, text: line.text.slice(0, 512), truncated: true }),
  );
  while (sizeOf(state.head) > HEAD_BYTES) state.head.shift();
}

function sizeOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}

const FLAGS = 4;
const SOURCES = { o: "stdout", e: "stderr", m: "messages" } as const;

/** Where a line is from and how it ended in four letters, and the text. */
function pack({ text, source, overwritten, truncated, partial }: Line): string {
  const from = source === "stderr" ? "e" : source === "messages" ? "m" : "o";
  return `${from}${overwritten ? "w" : "-"}${truncated ? "t" : "-"}${partial ? "p" : "-"}${text}`;
}

function unpack(packed: string): Line {
  const from = packed[0];
  return {
    text: packed.slice(FLAGS),
    source: SOURCES[from === "e" || from === "m" ? from : "o"],
    overwritten: packed[1] === "w",
    truncated: packed[2] === "t",
    partial: packed[3] === "p",
  };
}

function isAutoState(state: JsonObject): state is AutoState {
  return state["kind"] === "auto/1";
}
