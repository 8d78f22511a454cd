import type { Json, JsonObject } from "../../src/domain/json.ts";
import type { Line, Note, Translator } from "../../src/domain/translator.ts";

const HEAD_LINES = 200;
/** Lines that are kept for the translator that is chosen, in UTF-8 bytes of their JSON; older ones leave. */
const HEAD_BYTES = 4096;
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
  head: JsonObject[];
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
  const head = state.head.map((kept) => String(kept["text"]));
  const chosen = best(candidates, head, isOver || line.partial ? LIKELY : SURE);
  if (chosen === null) {
    const { state: inner, notes } = fallback.step(state.inner, line);
    state.inner = inner;
    if (isOver) decide(state, fallback.name);
    return [...notes];
  }
  let inner = chosen.start(state.options);
  const notes: Note[] = [];
  for (const kept of state.head) {
    const read = chosen.step(inner, lineOf(kept));
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

function keep(state: AutoState, { text, source, overwritten, truncated, partial }: Line): void {
  state.head.push({ text, source, overwritten, truncated, partial });
  while (state.head.length > 1 && sizeOf(state.head) > HEAD_BYTES) state.head.shift();
  const [only] = state.head;
  if (only === undefined || state.head.length > 1 || sizeOf(state.head) <= HEAD_BYTES) return;
  only["text"] = text.slice(0, 512);
  only["truncated"] = true;
}

function sizeOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function lineOf(kept: JsonObject): Line {
  const { text, source } = kept;
  return {
    text: String(text),
    source: source === "stderr" || source === "messages" ? source : "stdout",
    overwritten: kept["overwritten"] === true,
    truncated: kept["truncated"] === true,
    partial: kept["partial"] === true,
  };
}

function isAutoState(state: JsonObject): state is AutoState {
  return state["kind"] === "auto/1";
}
