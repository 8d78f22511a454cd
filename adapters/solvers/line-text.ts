/** Most bytes of UTF-8 that a line's text may have. */
const MAX_TEXT_BYTES = 8192;

const ESC = "\u001b";
const BEL = "\u0007";
const BACKSLASH = "\\";

const decoder = new TextDecoder("utf-8");
const encoder = new TextEncoder();

/**
 * The text of one line's bytes: invalid UTF-8 becomes U+FFFD, escape sequences (CSI, OSC and the other string
 * sequences) and control characters other than tab are left out, and what goes over 8 KiB is cut.
 */
export function lineText(bytes: Uint8Array): { readonly text: string; readonly isCut: boolean } {
  const text = withoutControls(withoutEscapes(decoder.decode(bytes)));
  if (text.length * 3 <= MAX_TEXT_BYTES) return { text, isCut: false };
  const { read } = encoder.encodeInto(text, new Uint8Array(MAX_TEXT_BYTES));
  return { text: text.slice(0, read), isCut: read < text.length };
}

/** True for a byte that cannot be taken over as it is: a control character other than tab, or not ASCII. */
export function needsCare(byte: number): boolean {
  return (byte < 0x20 && byte !== 0x09) || byte > 0x7e;
}

function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to go
  return text.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, "");
}

function withoutEscapes(text: string): string {
  let found = text.indexOf(ESC);
  if (found < 0) return text;
  let kept = "";
  let from = 0;
  while (found >= 0) {
    kept += text.slice(from, found);
    from = endOfEscape(text, found + 1);
    found = text.indexOf(ESC, from);
  }
  return kept + text.slice(from);
}

/**
 * Where the sequence whose first character after ESC is at `at` ends (ECMA-48 §5.4 and §5.6). One that is broken off
 * loses its introducer alone, so that a stray ESC never swallows text.
 */
function endOfEscape(text: string, at: number): number {
  const kind = text.charAt(at);
  if (kind === "[") return endOfControlSequence(text, at + 1);
  if (kind !== "" && "]PX^_".includes(kind)) return endOfString(text, at + 1);
  let end = at;
  while (isBetween(text, end, 0x20, 0x2f)) end += 1;
  return isBetween(text, end, 0x30, 0x7e) ? end + 1 : at;
}

function endOfControlSequence(text: string, at: number): number {
  let end = at;
  while (isBetween(text, end, 0x30, 0x3f)) end += 1;
  while (isBetween(text, end, 0x20, 0x2f)) end += 1;
  return isBetween(text, end, 0x40, 0x7e) ? end + 1 : end;
}

function endOfString(text: string, at: number): number {
  for (let end = at; end < text.length; end += 1) {
    const character = text.charAt(end);
    if (character === BEL) return end + 1;
    if (character === ESC) return text.charAt(end + 1) === BACKSLASH ? end + 2 : at;
  }
  return at;
}

function isBetween(text: string, at: number, low: number, high: number): boolean {
  const code = text.charCodeAt(at);
  return code >= low && code <= high;
}
