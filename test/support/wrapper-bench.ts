import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ExitRecord,
  type LifeRecord,
  parseExitRecord,
  parseLifeRecord,
} from "../../adapters/schedulers/shared/exit-record.ts";
import { jobFiles } from "../../adapters/schedulers/shared/job-files.ts";
import { layoutAt } from "../../adapters/schedulers/shared/job-layout.ts";
import type { JobSpec } from "../../src/domain/adapter.ts";
import { testDirectory } from "./jobs.ts";

/** busybox is not on every machine; the same tests run under every shell that is. */
const SHELLS = [["dash"], ["bash", "--posix"], ["busybox", "sh"]].filter(
  ([name = ""]) => spawnSync("sh", ["-c", 'command -v "$1"', "sh", name]).status === 0,
);
export const EACH_SHELL = SHELLS.map((shell): [string, string[]] => [shell.join(" "), shell]);

export type WrapperSettings = {
  readonly attempt?: number;
  readonly identity?: string;
  readonly walltime?: number;
  readonly grace?: number;
  readonly requeues?: number | "-";
  readonly path?: string;
};

/** One job directory, and its wrapper run by hand under any shell. */
export type WrapperBench = {
  readonly path: string;
  readonly root: string;
  prepare(spec: JobSpec): void;
  start(shell: readonly string[], settings?: WrapperSettings): ChildProcess;
  runToEnd(shell: readonly string[], settings?: WrapperSettings): Promise<number | null>;
  exitRecord(life?: number): ExitRecord | null;
  lifeRecord(life?: number): LifeRecord | null;
  /** A file of `.tailrace/`. */
  own(name: string): string;
  /** A PATH on which this program comes before the system's. */
  standIn(name: string, text: string): string;
  /** Processes that carry this job's directory. */
  leftovers(): string[];
  remove(): void;
};

export function wrapperBench(): WrapperBench {
  const directory = testDirectory();
  const root = join(directory.path, "job");
  const own = (name: string) => join(root, ".tailrace", name);
  const start: WrapperBench["start"] = (shell, settings = {}) => {
    const { attempt = 1, identity = "pod:7", walltime = 0, grace = 0, requeues } = settings;
    const [file = "", ...args] = shell;
    const words = [own("wrapper"), root, attempt, identity, walltime, grace, ...[requeues ?? []].flat()];
    return spawn(file, [...args, ...words.map(String)], {
      stdio: "ignore",
      detached: true,
      env: { ...process.env, PATH: settings.path ?? process.env["PATH"] },
    });
  };
  return {
    path: directory.path,
    root,
    own,
    start,
    prepare: (spec) => prepare(root, spec),
    runToEnd: async (shell, settings) => {
      const [code] = await once(start(shell, settings), "exit");
      return code;
    },
    exitRecord: (life = 0) => parseExitRecord(readFileSync(own(`exit.${life}.json`), "utf8")),
    lifeRecord: (life = 0) => parseLifeRecord(readFileSync(own(`life.${life}.json`), "utf8")),
    standIn: (name, text) => {
      const bin = join(directory.path, "bin");
      mkdirSync(bin, { recursive: true });
      writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o700 });
      return `${bin}:${process.env["PATH"]}`;
    },
    leftovers: () => {
      const look = `grep -lF "TAILRACE_TASK_DIR=${root}" /proc/[0-9]*/environ 2>/dev/null`;
      const { stdout } = spawnSync("sh", ["-c", look], { encoding: "utf8" });
      return stdout.split("\n").filter((line) => line !== "");
    },
    remove: () => directory.remove(),
  };
}

function prepare(root: string, spec: JobSpec): void {
  const layout = layoutAt(root);
  mkdirSync(layout.own, { recursive: true });
  mkdirSync(layout.work);
  for (const file of jobFiles(spec))
    writeFileSync(join(layout.own, file.name), file.text, { mode: file.mode });
}
