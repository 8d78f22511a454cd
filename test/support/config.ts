import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { formatProblems, type Loaded, type LoadOptions, loadSettings } from "../../src/config/load.ts";
import type { Settings } from "../../src/config/settings.ts";
import type { ToolDefinition } from "../../src/domain/tool.ts";
import { removeTree } from "./remove-tree.ts";

/** The design's example; its clusters are local targets here. */
export const EXAMPLE = `targets:
  here:    { scheduler: local, maxConcurrent: 2 }
  cluster: { scheduler: local, workdir: /shared/tailrace, defaults: { partition: batch, account: cfd } }
  k8s:     { scheduler: local }
tools:
  run_cfd_case:
    title: Run a lid-driven cavity
    description: Solves the case with icoFoam and returns residual history and final fields.
    target: cluster
    input:                      # JSON Schema 2020-12, properties may be given short-hand
      reynolds: { type: number, minimum: 1, maximum: 10000 }
      endTime:  { type: number, default: 0.5 }
    run:
      script: ./cavity.sh       # a file or inline text: fixed by the operator, never templated
    resources: { cpus: 2, memory: 4GiB, walltime: 30m, gpus: 0 }
    solver: openfoam            # which translator; \`auto\` detects
    progress: { total: "\${args.endTime}", unit: s }
    outputs: ["postProcessing/**", "log.*"]
    idempotency: required
    tasks: optional
    ttl: 7d
`;
export const CAVITY = "#!/bin/sh\nicoFoam\n";

type Given = Partial<LoadOptions> & { readonly files?: Readonly<Record<string, string>> };

/** A folder that goes with the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tr-config-"));
  onTestFinished(() => removeTree(folder));
  return folder;
}

/** Loads the text as tailrace.yaml of a folder of its own, beside the given files. */
export async function load(text: string, { files = {}, ...options }: Given = {}): Promise<Loaded> {
  const folder = options.cwd ?? tempFolder();
  for (const [name, content] of Object.entries({ "tailrace.yaml": text, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return loadSettings({ path: null, env: { HOME: "/home/op" }, cwd: folder, ...options });
}

/** The settings of a text that has no problem. */
export async function settingsOf(text: string, given: Given = {}): Promise<Settings> {
  return (await loadedOf(text, given)).settings;
}

export async function loadedOf(text: string, given: Given = {}) {
  const loaded = await load(text, given);
  if (loaded.kind === "problems") throw new Error(formatProblems(loaded.problems));
  return loaded;
}

/** What is printed about a text with problems, one line each; empty when it has none. */
export async function complaintsAbout(text: string, given: Given = {}): Promise<string[]> {
  const loaded = await load(text, given);
  return loaded.kind === "ok" ? [] : formatProblems(loaded.problems).split("\n");
}

/** A file with one tool, from the lines of its definition. */
export function toolText(...lines: readonly string[]): string {
  return [
    "tools:",
    "  t:",
    "    description: d",
    "    resources: { walltime: 1m }",
    ...lines.map((line) => `    ${line}`),
    ...(lines.some((line) => line.startsWith("run:")) ? [] : ["    run: { argv: [solve] }"]),
    "",
  ].join("\n");
}

export async function toolFrom(...lines: readonly string[]): Promise<ToolDefinition> {
  const { tools } = await settingsOf(toolText(...lines));
  const [tool] = tools;
  if (tool === undefined) throw new Error("no tool");
  return tool;
}
