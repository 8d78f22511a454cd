/** A message may be this long, in bytes. */
export const MAX_MESSAGE_BYTES = 32_768;

/** What was read of a line that has not ended yet, as plain JSON. */
export type MessageCarry = { base64: string; isTooLong: boolean };

export function newMessageCarry(): MessageCarry {
  return { base64: "", isTooLong: false };
}

/** One whole line of the message file; null for one that was too long. */
export type MessageLine = string | null;

/** Cuts bytes into lines at LF. Apart from the logs' framing: a message may be longer, and nothing is taken out of it. */
export function readMessageLines(
  carry: MessageCarry,
  bytes: Uint8Array,
): { readonly carry: MessageCarry; readonly lines: MessageLine[] } {
  const lines: MessageLine[] = [];
  let { base64, isTooLong } = carry;
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(0x0a, start);
    const part = bytes.subarray(start, end < 0 ? bytes.length : end);
    const before = base64 === "" ? Buffer.alloc(0) : Buffer.from(base64, "base64");
    isTooLong ||= before.length + part.length > MAX_MESSAGE_BYTES;
    const whole = isTooLong ? Buffer.alloc(0) : Buffer.concat([before, part]);
    if (end < 0) return { carry: { base64: whole.toString("base64"), isTooLong }, lines };
    lines.push(isTooLong ? null : whole.toString("utf8"));
    base64 = "";
    isTooLong = false;
    start = end + 1;
  }
}
