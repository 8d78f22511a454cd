import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JobSpec } from "../../src/domain/adapter.ts";
import { removeTree } from "./remove-tree.ts";

/** A signal that never fires. */
export const NEVER = new AbortController().signal;

/** A fresh mark of an instance. */
export function markOf(instance: string): string {
  const alphabet = "abcdefghijklmnopqrstuvwxyz234567";
  const tail = [...randomBytes(26)].map((byte) => alphabet[byte % 32]).join("");
  return `tr-${instance}-${tail}`;
}

type SpecFields = Partial<Omit<JobSpec, "resources">> & { readonly walltimeSeconds?: number };

/** A spec that runs this script text. */
export function scriptSpec(text: string, fields: SpecFields = {}): JobSpec {
  const sha256 = createHash("sha256").update(text).digest("hex");
  return specOf({ run: { kind: "script", name: "job.sh", text, sha256 }, ...fields });
}

export function argvSpec(argv: string[], fields: SpecFields = {}): JobSpec {
  return specOf({ run: { kind: "argv", argv }, ...fields });
}

function specOf({ walltimeSeconds = 60, ...fields }: SpecFields): JobSpec {
  return JobSpec.parse({
    tool: "test",
    args: {},
    env: {},
    resources: { cpus: 1, walltimeSeconds },
    outputs: ["**"],
    solver: "generic",
    progress: {},
    options: {},
    ...fields,
  });
}

export type TestDirectory = { readonly path: string; remove(): void };

export function testDirectory(): TestDirectory {
  const path = mkdtempSync(join(tmpdir(), "tailrace-"));
  return { path, remove: () => removeTree(path) };
}

/** Every argument in single quotes: scripts of tests may name paths. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
