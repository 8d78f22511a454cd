import { createHash } from "node:crypto";
import { join } from "node:path";
import type { LogSource } from "../../../src/domain/adapter.ts";
import { WRAPPER_FILES } from "./wrapper-names.ts";

/** Where the parts of one job lie: `<workdir>/<mark>/`, with `.tailrace/` ours and `work/` the script's. */
export type JobLayout = {
  readonly root: string;
  readonly own: string;
  readonly work: string;
  readonly wrapper: string;
  readonly spec: string;
  readonly cancel: string;
  readonly swept: string;
  readonly closed: string;
  readonly input: string;
  /** Where Slurm writes what the batch script says before it becomes the wrapper. */
  readonly slurmOut: string;
  attempt(attempt: number): string;
  claim(attempt: number): string;
  problem(attempt: number): string;
  end(attempt: number): string;
  life(life: number): string;
  exit(life: number): string;
  log(source: LogSource): string;
};

/** `mark` must have passed `markTail`. */
export function jobLayout(workdir: string, mark: string): JobLayout {
  return layoutAt(join(workdir, mark));
}

export function layoutAt(root: string): JobLayout {
  const own = join(root, ".tailrace");
  return {
    root,
    own,
    work: join(root, "work"),
    wrapper: join(own, "wrapper"),
    spec: join(own, "spec.json"),
    cancel: join(own, "cancel"),
    swept: join(own, "swept"),
    closed: join(own, WRAPPER_FILES.closed),
    input: join(own, "input"),
    slurmOut: join(own, "slurm.out"),
    attempt: (attempt) => join(own, `attempt.${attempt}`),
    claim: (attempt) => join(own, WRAPPER_FILES.claim(attempt)),
    problem: (attempt) => join(own, `problem.${attempt}`),
    end: (attempt) => join(own, `end.${attempt}.json`),
    life: (life) => join(own, WRAPPER_FILES.life(life)),
    exit: (life) => join(own, WRAPPER_FILES.exit(life)),
    log: (source) => join(own, source),
  };
}

/**
 * The file that answers an input key, `<name>.json`. Letters, digits, "_", "-" and inner dots stay as they are; other
 * bytes become %XX; a name over 200 characters becomes `%h` and the key's sha256; an empty key is `%`. No two keys share a name.
 */
export function inputFileName(key: string): string {
  const escaped = [...Buffer.from(key, "utf8")]
    .map((byte, index) => {
      const character = String.fromCharCode(byte);
      const plain = index === 0 ? /[A-Za-z0-9_-]/ : /[A-Za-z0-9_.-]/;
      return plain.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
  const name = escaped.length > 200 ? `%h${createHash("sha256").update(key).digest("hex")}` : escaped;
  return `${name === "" ? "%" : name}.json`;
}
