import { oneLine } from "../../mcp/words.ts";

/*
 * Everything that a server sends may have come from a job's log: it is shown, and must not act. C0 and C1 controls would
 * steer the terminal, bidirectional controls would turn what stands beside them.
 */

/** One line without control characters, cut to `limit` characters. */
export function shown(text: string, limit = 200): string {
  return oneLine(text, limit);
}

/** Several lines, each shown as above. */
export function shownLines(text: string, limit = 400): string[] {
  return text.split(/\r\n|\r|\n/).map((line) => shown(line, limit));
}

/** JSON on one line (or indented), the same data, with everything that acts on a terminal escaped. */
export function jsonText(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** 1.5 KiB · 12 MiB: what a person reads at a glance. */
export function bytesText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

/** 4200 · 3.1e-4 · 0.25: enough digits to see a change. */
export function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-2 || size >= 1e5)
    ? value.toExponential(2)
    : String(Number(value.toPrecision(4)));
}
