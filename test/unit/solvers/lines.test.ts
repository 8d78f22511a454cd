import { array, assert, constantFrom, nat, property, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineFramer } from "../../../adapters/solvers/lines.ts";
import type { Json } from "../../../src/domain/json.ts";
import type { Line } from "../../../src/domain/translator.ts";

const ESC = "\u001b";
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** The lines of a whole log, cut into chunks of these sizes (the last takes the rest). */
function frame(bytes: Uint8Array, sizes: readonly number[] = []): Line[] {
  const framer = createLineFramer("stdout");
  const lines: Line[] = [];
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    lines.push(...framer.feed(bytes.subarray(at, at + size)));
    at = Math.min(at + size, bytes.length);
  }
  return [...lines, ...framer.flush()];
}

const texts = (log: string) => frame(bytesOf(log)).map(({ text }) => text);
const oneByOne = (bytes: Uint8Array) => frame(bytes, new Array(bytes.length).fill(1));

describe("framing", () => {
  it("ends lines at LF and at CR LF", () => {
    expect(texts("a\nb\r\n\nc\r\r\n")).toEqual(["a", "b", "", "c"]);
  });

  it("marks a line that a bare carriage return ended, and drops the empty ones", () => {
    const lines = frame(bytesOf("\r 10%\r 20%\r\r 30%\n"));
    expect(lines.map(({ text, overwritten }) => [text, overwritten])).toEqual([
      [" 10%", true],
      [" 20%", true],
      [" 30%", false],
    ]);
  });

  it("waits at a carriage return until it knows whether a line feed follows", () => {
    const framer = createLineFramer("stderr");
    expect(framer.feed(bytesOf("half\r"))).toEqual([]);
    expect(framer.feed(bytesOf("\nnext"))).toMatchObject([{ text: "half", overwritten: false }]);
    expect(framer.flush()).toMatchObject([{ text: "next", partial: true, source: "stderr" }]);
  });

  it("says that a line without an end is partial, and that one before a last CR is not", () => {
    expect(frame(bytesOf("Time = 3"))).toMatchObject([{ partial: true }]);
    expect(frame(bytesOf("99%\r"))).toMatchObject([{ partial: false, overwritten: true }]);
  });

  it("is empty after a flush", () => {
    const framer = createLineFramer("stdout");
    framer.feed(bytesOf("rest\r"));
    framer.flush();
    expect(framer.feed(bytesOf("\n"))).toMatchObject([{ text: "" }]);
    expect(framer.flush()).toEqual([]);
  });
});

describe("the text of a line", () => {
  it("puts glyphs together that a chunk's end had torn", () => {
    const lines = oneByOne(bytesOf("42%|███▏ | 84/200 ├ 中 😀\n"));
    expect(lines).toMatchObject([{ text: "42%|███▏ | 84/200 ├ 中 😀" }]);
  });

  it("has U+FFFD where the bytes are no UTF-8, and goes on after them", () => {
    const bytes = new Uint8Array([0xff, 0xfe, 0x28, 0x20, 0xe2, 0x96, 0x0a, 0x6f, 0x6b, 0x0a]);
    expect(oneByOne(bytes).map(({ text }) => text)).toEqual(["\uFFFD\uFFFD( \uFFFD", "ok"]);
  });

  it("has no NULs and no control characters but tabs", () => {
    expect(texts("\u0000\u0000bin\u0008ary\ta\u007f\u000cb\u0085\n")).toEqual(["binary\tab"]);
  });

  it("has no colours, cursor movements, titles or links", () => {
    const link = `${ESC}]8;;https://example.org${ESC}\\the file${ESC}]8;;${ESC}\\`;
    const log = `${ESC}[32;1mok${ESC}[0m ${ESC}[K${ESC}[?25l${ESC}]0;title\u0007${link} ${ESC}(B${ESC}Mend\n`;
    expect(texts(log)).toEqual(["ok the file end"]);
    expect(oneByOne(bytesOf(log)).map(({ text }) => text)).toEqual(["ok the file end"]);
  });

  it("is not swallowed by an escape sequence that never ends", () => {
    expect(texts(`${ESC}]0;End\n${ESC}[\n${ESC}\nEnd\n`)).toEqual(["0;End", "", "", "End"]);
  });

  it("is cut at 8 KiB, and the rest is counted", () => {
    const framer = createLineFramer("stdout");
    const lines = [...framer.feed(bytesOf(`${"x".repeat(300_000)}\nshort\n`)), ...framer.flush()];
    expect(lines.map(({ text, truncated }) => [text.length, truncated])).toEqual([
      [8192, true],
      [5, false],
    ]);
    expect(framer.droppedBytes()).toBe(300_000 - 16_384);
  });

  it("is cut between characters, not inside one", () => {
    const [line] = frame(bytesOf(`${"█".repeat(4000)}\n`));
    expect(line).toMatchObject({ truncated: true, text: "█".repeat(2730) });
  });
});

describe("a framer's laws", () => {
  const snippets = constantFrom(
    "\r",
    "\n",
    "\r\n",
    ESC,
    `${ESC}[31m`,
    `${ESC}]0;`,
    "\u0007",
    "█",
    "Time = 1",
    " 5%",
  );
  const logs = array(snippets, { maxLength: 60 }).map((parts) => bytesOf(parts.join("")));

  it("the lines do not depend on the chunks", () => {
    const check = (bytes: Uint8Array, sizes: readonly number[]) => {
      expect(frame(bytes, sizes)).toEqual(frame(bytes));
      expect(oneByOne(bytes)).toEqual(frame(bytes));
    };
    assert(property(logs, array(nat(20)), check));
    assert(property(uint8Array({ maxLength: 300 }), array(nat(50)), check));
  });

  it("a framer goes on from the JSON of another's snapshot", () => {
    const check = (bytes: Uint8Array, cut: number) => {
      const first = createLineFramer("stdout");
      const before = first.feed(bytes.subarray(0, cut));
      const stored: Json = JSON.parse(JSON.stringify(first.snapshot()));
      const second = createLineFramer("stdout", stored);
      expect([...before, ...second.feed(bytes.subarray(cut)), ...second.flush()]).toEqual(frame(bytes));
    };
    assert(property(logs, nat(200), check));
    assert(property(uint8Array({ maxLength: 300 }), nat(300), check));
  });

  it("a snapshot stays below 32 KiB, whatever comes", () => {
    const framer = createLineFramer("stdout");
    const block = new Uint8Array(1 << 20).fill(0xe2);
    for (let round = 0; round < 50; round += 1) framer.feed(block);
    expect(JSON.stringify(framer.snapshot()).length).toBeLessThan(32_768);
    expect(framer.droppedBytes()).toBe(50 * (1 << 20) - 16_384);
  });

  it("what is no snapshot is refused", () => {
    expect(() => createLineFramer("stdout", "lines")).toThrow(/no framer's snapshot/);
    expect(() => createLineFramer("stdout", { carry: 7 })).toThrow(/no framer's snapshot/);
  });
});
