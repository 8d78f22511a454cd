import type { LogSource } from "../../src/domain/adapter.ts";
import type { Json } from "../../src/domain/json.ts";
import type { Line } from "../../src/domain/translator.ts";
import { lineText, needsCare } from "./line-text.ts";

const LF = 0x0a;
const CR = 0x0d;

/** Most bytes of a line that are kept; more than its text may have, since escape sequences fall away. */
const MAX_KEPT_BYTES = 16_384;

/**
 * Cuts one source's bytes into lines. Lines end at LF, CR LF (any number of CRs before the LF) or bare CRs, whose line is
 * `overwritten`; what bare CRs overwrite without text is no line. The lines do not depend on how the bytes were chunked.
 */
export type LineFramer = {
  feed(bytes: Uint8Array): Line[];
  /** What is left at the end of a log: an unterminated line is `partial`. The framer is empty afterwards. */
  flush(): Line[];
  /** Plain JSON of at most 32 KiB, from which `createLineFramer` goes on. */
  snapshot(): Json;
  /** Bytes so far that were over the limit of their line. */
  droppedBytes(): number;
};

/** Throws when `snapshot` is neither null nor a framer's. */
export function createLineFramer(source: LogSource, snapshot: Json = null): LineFramer {
  const framing = restore(source, snapshot);
  return {
    feed: (bytes) => feed(framing, bytes),
    flush: () => flush(framing),
    snapshot: () => ({
      carry: Buffer.from(framing.carry.subarray(0, framing.length)).toString("base64"),
      isAfterCr: framing.isAfterCr,
      isOver: framing.isOver,
      dropped: framing.dropped,
    }),
    droppedBytes: () => framing.dropped,
  };
}

type Framing = {
  readonly source: LogSource;
  /** The first `length` bytes are the beginning of the line that has not ended yet. */
  readonly carry: Uint8Array;
  length: number;
  /** The carried line was ended by a CR, and a LF may still follow. */
  isAfterCr: boolean;
  /** The carried line has lost bytes. */
  isOver: boolean;
  dropped: number;
};

function feed(framing: Framing, bytes: Uint8Array): Line[] {
  const lines: Line[] = [];
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (at < buffer.length) {
    if (framing.isAfterCr) {
      const byte = buffer[at];
      if (byte === CR) at += 1;
      else endCarriedLine(framing, byte === LF, lines);
      if (byte === LF) at += 1;
      continue;
    }
    at = takeLine(framing, buffer, at, lines);
  }
  return lines;
}

/** Reads on from `start` to the end of the line or of the buffer; returns where to go on. */
function takeLine(framing: Framing, buffer: Buffer, start: number, lines: Line[]): number {
  let end = start;
  let isPlain = true;
  for (; end < buffer.length; end += 1) {
    const byte = buffer[end] ?? LF;
    if (byte === LF || byte === CR) break;
    if (needsCare(byte)) isPlain = false;
  }
  const isComplete = buffer[end] === LF;
  const isWhole = isComplete && framing.length === 0 && !framing.isOver;
  if (isWhole && isPlain && end - start <= MAX_PLAIN_BYTES) {
    lines.push(plainLine(framing.source, buffer.toString("latin1", start, end)));
    return end + 1;
  }
  keep(framing, buffer, start, end);
  if (isComplete) endCarriedLine(framing, true, lines);
  else if (buffer[end] === CR) framing.isAfterCr = true;
  return end + 1;
}

/** Below every limit, whatever is done to the text. */
const MAX_PLAIN_BYTES = 2048;

function plainLine(source: LogSource, text: string): Line {
  return { text, source, overwritten: false, truncated: false, partial: false };
}

function keep(framing: Framing, buffer: Buffer, start: number, end: number): void {
  const room = Math.min(end - start, MAX_KEPT_BYTES - framing.length);
  framing.carry.set(buffer.subarray(start, start + room), framing.length);
  framing.length += room;
  const over = end - start - room;
  framing.dropped += over;
  if (over > 0) framing.isOver = true;
}

function endCarriedLine(framing: Framing, isComplete: boolean, lines: Line[]): void {
  if (isComplete || framing.length > 0) {
    lines.push(carriedLine(framing, { overwritten: !isComplete, partial: false }));
  }
  empty(framing);
}

function flush(framing: Framing): Line[] {
  const lines: Line[] = [];
  if (framing.length > 0) {
    const { isAfterCr } = framing;
    lines.push(carriedLine(framing, { overwritten: isAfterCr, partial: !isAfterCr }));
  }
  empty(framing);
  return lines;
}

function carriedLine(framing: Framing, how: Pick<Line, "overwritten" | "partial">): Line {
  const { text, isCut } = lineText(framing.carry.subarray(0, framing.length));
  return { text, source: framing.source, truncated: isCut || framing.isOver, ...how };
}

function empty(framing: Framing): void {
  framing.length = 0;
  framing.isAfterCr = false;
  framing.isOver = false;
}

function restore(source: LogSource, snapshot: Json): Framing {
  const carry = new Uint8Array(MAX_KEPT_BYTES);
  const framing = { source, carry, length: 0, isAfterCr: false, isOver: false, dropped: 0 };
  if (snapshot === null) return framing;
  if (typeof snapshot !== "object" || Array.isArray(snapshot))
    throw new Error("this is no framer's snapshot");
  const { carry: text, isAfterCr, isOver, dropped } = snapshot;
  if (typeof text !== "string" || typeof dropped !== "number")
    throw new Error("this is no framer's snapshot");
  const bytes = Buffer.from(text, "base64").subarray(0, MAX_KEPT_BYTES);
  carry.set(bytes);
  return {
    ...framing,
    length: bytes.length,
    isAfterCr: isAfterCr === true,
    isOver: isOver === true,
    dropped,
  };
}
