/** U+001F after every field: nothing that a person types into a name, comment or reason holds it. */
export const SEPARATOR = "\x1f";

/**
 * `code` 0 to 255; `signal` 0 when none ended it. `lossy`: the true code may be 128 higher, and nothing can tell any more
 * (Slurm's accounting before 25.11).
 */
export type ExitStatus = { readonly code: number; readonly signal: number; readonly lossy?: boolean };

/** Problems are sentences for a log: lines that are no row, each with its beginning. */
export type Parsed<Row> = { readonly rows: Row[]; readonly problems: string[] };

/**
 * Reads each line that is not blank with `readRow`, which answers null for what is no row. A last line without a line
 * end was cut off, and is none.
 */
export function parseLines<Row>(stdout: string, readRow: (line: string) => Row | null): Parsed<Row> {
  const rows: Row[] = [];
  const problems: string[] = [];
  const lines = stdout.split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const row = index === lines.length - 1 ? null : readRow(line);
    if (row !== null) rows.push(row);
    else problems.push(`this line is no job: ${JSON.stringify(line.slice(0, 120))}`);
  }
  return { rows, problems };
}

/** Slurm's words for a time that there is none of. */
const NO_TIME = new Set(["N/A", "NONE", "None", "Unknown", "(null)", ""]);

/** Ms since the epoch, from whole seconds (SLURM_TIME_FORMAT=%s); null for no time, undefined for what is no time at all. */
export function epochMs(text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (NO_TIME.has(text)) return null;
  if (!/^\d{1,12}$/.test(text)) return undefined;
  return text === "0" ? null : Number(text) * 1000;
}

/** A whole number; null for anything else. squeue writes multiples of 1,024 as `4K`. */
export function countOf(text: string | undefined): number | null {
  const [, digits, unit] = /^(\d{1,9})([KM]?)$/.exec(text ?? "") ?? [];
  if (digits === undefined) return null;
  return Number(digits) * (unit === "K" ? 1024 : unit === "M" ? 1024 ** 2 : 1);
}

/** An exit status as `code:signal`, or as the raw wait status that squeue prints up to 23.02. */
export function exitStatus(text: string | undefined): ExitStatus | null {
  const [, code, signal] = /^(\d{1,3}):(\d{1,3})$/.exec(text ?? "") ?? [];
  if (code !== undefined) return { code: Number(code), signal: Number(signal) };
  const raw = /^\d{1,5}$/.test(text ?? "") ? Number(text) : Number.NaN;
  return raw <= 0xffff ? { code: raw >> 8, signal: raw & 0x7f } : null;
}
