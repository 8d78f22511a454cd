import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { LocalTarget } from "../../../adapters/schedulers/local/index.ts";
import { SlurmOptions, SlurmTarget } from "../../../adapters/schedulers/slurm/index.ts";
import { unwrap } from "../../../src/config/fields.ts";
import {
  AuthFile,
  ConfigFile,
  LimitsFile,
  ListenFile,
  ProgressFile,
  ResourcesFile,
  RunFile,
  StoreFile,
  TargetFile,
  TokenFile,
  ToolFile,
} from "../../../src/config/schema.ts";
import { complaintsAbout } from "../../support/config.ts";

/** Parts that are read by themselves, so that the schema around them does not show their keys. */
const PARTS: Readonly<Record<string, { readonly below: string; readonly schema: z.ZodObject }>> = {
  store: { below: "store.", schema: StoreFile },
  listen: { below: "listen.", schema: ListenFile },
  limits: { below: "limits.", schema: LimitsFile },
  auth: { below: "auth.", schema: AuthFile },
  "auth.tokens": { below: "auth.tokens[].", schema: TokenFile },
  targets: { below: "targets.<name>.", schema: TargetFile },
  tools: { below: "tools.<name>.", schema: ToolFile },
  "tools.<name>.run": { below: "tools.<name>.run.", schema: RunFile },
  "tools.<name>.resources": { below: "tools.<name>.resources.", schema: ResourcesFile },
  "tools.<name>.progress": { below: "tools.<name>.progress.", schema: ProgressFile },
};

function keysOf(schema: z.ZodObject, below = ""): string[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const key = `${below}${name}`;
    const part = PARTS[key];
    const inner = unwrap(field as z.ZodType);
    if (part !== undefined) return [key, ...keysOf(part.schema, part.below)];
    return inner instanceof z.ZodObject ? [key, ...keysOf(inner, `${key}.`)] : [key];
  });
}

const pageOf = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8");
const page = pageOf("docs/config.md");

function documented(heading: string): string[] {
  const start = page.indexOf(`${heading}\n`);
  expect(start, `a section ${heading}`).toBeGreaterThan(-1);
  const section = page.slice(start + heading.length).split(/^#/m)[0] ?? "";
  return [...section.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, key = ""]) => key);
}

test("docs/config.md lists the keys that can be written, all of them and no others", () => {
  expect(documented("## Keys").sort()).toEqual(keysOf(ConfigFile).sort());
});

test.each([
  ["### Targets with `scheduler: local`", keysOf(LocalTarget)],
  ["### Targets with `scheduler: slurm`", keysOf(SlurmTarget)],
  ["### Options with `scheduler: slurm`", keysOf(SlurmOptions)],
  ["### Resources with `scheduler: slurm`", keysOf(ResourcesFile)],
])("docs/config.md lists under %s all of its keys and no others", (heading, keys) => {
  expect(documented(heading).sort()).toEqual(keys.filter((key) => key !== "scheduler").sort());
});

test.each(["README.md", "docs/slurm.md"])("the configurations that %s shows are right", async (name) => {
  const shown = [...pageOf(name).matchAll(/^```yaml\n(targets:[\s\S]*?)^```$/gm)].map(
    ([, text = ""]) => text,
  );
  expect(shown.length).toBeGreaterThan(1);
  const files = { "run_cfd_case.sh": "#!/bin/sh\n", "solve_case.sh": "#!/bin/sh\n" };
  for (const text of shown) expect(await complaintsAbout(text, { files })).toEqual([]);
});
