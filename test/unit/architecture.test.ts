import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { globSync } from "tinyglobby";
import { expect, test } from "vitest";
import { checkArchitecture } from "../support/architecture.ts";

const ROOT = new URL("../../", import.meta.url);

test("every file keeps to its room's imports and to the house rules", () => {
  const paths = globSync(["{src,adapters,workers,test}/**/*.ts", "!test/fixtures"], {
    cwd: fileURLToPath(ROOT),
  });
  const files = paths.map((path) => ({ path, text: readFileSync(new URL(path, ROOT), "utf8") }));
  expect(checkArchitecture(files)).toEqual([]);
});

test.each([
  ["src/domain/a.ts", `import { readFileSync } from "node:fs";`, "may not import node:fs"],
  ["src/domain/a.ts", `export * from "../store/keys.ts";`, "may not import src/store/keys.ts"],
  ["src/mcp/a.ts", `import type { Redis } from "ioredis";`, "may not import ioredis"],
  ["src/mcp/methods/a.ts", `const s = await import("../../store/s.ts");`, "may not import src/store/s.ts"],
  ["src/mcp/a.ts", `const s: import("../../workers/watch.ts").W = 1;`, "may not import workers/watch.ts"],
  ["src/tasks/a.ts", `import { compose } from "../compose.ts";`, "may not import src/compose.ts"],
  ["src/compose.ts", `import "./cli/up.ts";`, "may not import src/cli/up.ts"],
  ["workers/a.ts", `import { pino } from "pino";`, "may not import pino as a value"],
  ["workers/a.ts", `import { x } from "../src/store/x.ts";`, "may not import src/store/x.ts"],
  ["adapters/solvers/a.ts", `import { z } from "zod";`, "may not import zod"],
  [
    "adapters/schedulers/slurm/a.ts",
    `import "../local/b.ts";`,
    "may not import adapters/schedulers/local/b.ts",
  ],
  ["adapters/schedulers/shared/mark.ts", `import { execa } from "execa";`, "may not import execa"],
  ["src/domain/a.ts", `const m = await import(name);`, "imports a computed name"],
  ["src/store/a.ts", `export const r = new Redis();`, "may not open a Redis connection"],
  ["src/web/a.ts", `export default 1;`, "has a default export"],
  ["src/web/a.ts", `export const a = b as any;`, "uses any"],
  ["src/web/a.ts", `// ${"TO"}${"DO"} later`, "leaves a note for later"],
  ["src/web/a.ts", "\n".repeat(301), "has more than 300 lines"],
  ["src/attic/a.ts", `export const a = 1;`, "is in no room"],
])("a planted violation is caught: %s: %s", (path, text, complaint) => {
  expect(checkArchitecture([{ path, text }])).toEqual([expect.stringContaining(`${path} ${complaint}`)]);
});

test.each([
  ["src/domain/a.ts", `import { z } from "zod";\nimport { b } from "./b.ts";`],
  ["workers/a.ts", `import type { Logger } from "pino";\nimport { Worker } from "bullmq";`],
  ["adapters/schedulers/slurm/a.ts", `import { run } from "../shared/command-runner.ts";`],
  ["adapters/schedulers/shared/command-runner.ts", `import { execa } from "execa";`],
  ["src/compose.ts", `import { Redis } from "ioredis";\nexport const r = new Redis();`],
  ["src/store/a.ts", `// any text may say: any, new Redis( or import "execa"`],
])("what the rule allows passes: %s: %s", (path, text) => {
  expect(checkArchitecture([{ path, text }])).toEqual([]);
});
