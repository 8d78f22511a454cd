import fc from "fast-check";
import { expect, test } from "vitest";
import { Memory, parseDuration, parseSize } from "../../../src/config/units.ts";

test.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["30m", 1_800_000],
  ["2h", 7_200_000],
  ["7d", 604_800_000],
  ["2w", 1_209_600_000],
  ["1d12h", 129_600_000],
  ["1h30m", 5_400_000],
  ["0s", 0],
])("the duration %s is %d ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(["", "30", "m", "1.5h", "-3d", "30 m", "30M", "1y", "30m1h", "30x", "1e3s", "30m\n", "१m"])(
  "%j is no duration",
  (text) => {
    expect(parseDuration(text)).toBeNull();
  },
);

test.each([
  ["1KiB", 1024],
  ["512MiB", 536_870_912],
  ["4GiB", 4_294_967_296],
  ["4 GiB", 4_294_967_296],
  ["1.5GiB", 1_610_612_736],
  ["1TiB", 1_099_511_627_776],
  ["1kB", 1000],
  ["4GB", 4_000_000_000],
])("the size %s is %d bytes", (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each(["", "4", "4G", "4Gi", "4g", "4gib", "-1GiB", "1e3MiB", ".5GiB", "GiB", "4GiB "])(
  "%j is no size",
  (text) => {
    expect(parseSize(text)).toBeNull();
  },
);

test("memory is rounded up to whole MiB, so that no job gets less than it asked for", () => {
  expect(Memory.parse("4GiB")).toBe(4096);
  expect(Memory.parse("1GB")).toBe(954);
  expect(Memory.parse("1kB")).toBe(1);
  expect(Memory.safeParse("0MiB").success).toBe(false);
  expect(Memory.safeParse("99999999TiB").success).toBe(false);
});

test("whatever is written, the parsers answer a finite number or null", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d{1,400}(?:ms|[wdhms]|GiB|MB)$/)), (text) => {
      for (const value of [parseDuration(text), parseSize(text)]) expect(value).not.toBeNaN();
    }),
  );
});
