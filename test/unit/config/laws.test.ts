import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatProblems, loadSettings } from "../../../src/config/load.ts";
import { CAVITY, EXAMPLE, tempFolder } from "../../support/config.ts";

const PIECES = [
  ..."{}[]:,-?&*!|>'\"%@`#\n\t \0\\~",
  "<<: *a",
  "__proto__: ",
  "!!binary ",
  "&a ",
  "*a",
  `\${args.`,
  "\u2028",
  "\uD800",
  ".nan",
  "null",
  "---\n",
  "%YAML 1.1\n",
];

/** The example with some of its text cut out, doubled, or replaced by what means something to YAML or to us. */
const mutated = fc
  .array(
    fc.record({
      at: fc.nat(EXAMPLE.length),
      cut: fc.nat(30),
      put: fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 8 }), fc.nat(EXAMPLE.length - 40)),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((edits) =>
    edits.reduce((text, { at, cut, put }) => {
      const piece = typeof put === "number" ? EXAMPLE.slice(put, put + 40) : put;
      return text.slice(0, at) + piece + text.slice(at + cut);
    }, EXAMPLE),
  );

test("no text makes loading throw, and every problem has a place within the file and one line", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "cavity.sh"), CAVITY);
  const check = async (text: string) => {
    writeFileSync(join(cwd, "tailrace.yaml"), text);
    const loaded = await loadSettings({ path: null, env: { HOME: "/home/op" }, cwd });
    if (loaded.kind === "ok") return;
    expect(loaded.problems.length).toBeGreaterThan(0);
    expect(formatProblems(loaded.problems).split("\n")).toHaveLength(loaded.problems.length);
    // As YAML counts them: a carriage return alone ends a line too.
    const lines = text.split(/\r\n|\r|\n/).length;
    for (const { line, message } of loaded.problems) {
      expect(message).not.toBe("");
      if (line !== null) expect(line).toBeLessThanOrEqual(lines);
    }
  };
  await fc.assert(fc.asyncProperty(fc.oneof({ weight: 9, arbitrary: mutated }, fc.string()), check), {
    numRuns: 300,
  });
});
