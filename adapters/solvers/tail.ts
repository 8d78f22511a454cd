import type { Line } from "../../src/domain/translator.ts";

const LINES = 20;
const CHARACTERS = 400;

/** Newest last. Plain JSON. */
export type Tail = { text: string; overwritten: boolean }[];

/** Keeps the last lines of a source; a line that was overwritten stands only until the next one comes. */
export function extendTail(tail: Tail, lines: readonly Line[]): Tail {
  const next = tail.at(-1)?.overwritten ? tail.slice(0, -1) : [...tail];
  for (const { text, overwritten } of lines.slice(-4 * LINES)) {
    if (next.at(-1)?.overwritten) next.pop();
    if (text.trim() !== "") next.push({ text: text.slice(0, CHARACTERS), overwritten });
  }
  return next.slice(-LINES);
}
