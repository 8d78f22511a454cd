import { createHash } from "node:crypto";
import { join } from "node:path";
import type { LogSource } from "../../../src/domain/adapter.ts";
import { WRAPPER_FILES } from "./wrapper-names.ts";

/**
 * Where the parts of one job lie: `<workdir>/<mark>/`, with `.tailrace/` ours and `work/` the script's. Names are made when
 * they are asked for: one look at a queue makes thousands of these, and needs few.
 */
export class JobLayout {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  get own(): string {
    return `${this.root}/.tailrace`;
  }
  get work(): string {
    return `${this.root}/work`;
  }
  get wrapper(): string {
    return `${this.own}/wrapper`;
  }
  get spec(): string {
    return `${this.own}/spec.json`;
  }
  get cancel(): string {
    return `${this.own}/cancel`;
  }
  get swept(): string {
    return `${this.own}/swept`;
  }
  get closed(): string {
    return `${this.own}/${WRAPPER_FILES.closed}`;
  }
  get input(): string {
    return `${this.own}/input`;
  }
  /** Where Slurm writes what the batch script says before it becomes the wrapper. */
  get slurmOut(): string {
    return `${this.own}/slurm.out`;
  }
  attempt(attempt: number): string {
    return `${this.own}/attempt.${attempt}`;
  }
  claim(attempt: number): string {
    return `${this.own}/${WRAPPER_FILES.claim(attempt)}`;
  }
  problem(attempt: number): string {
    return `${this.own}/problem.${attempt}`;
  }
  end(attempt: number): string {
    return `${this.own}/end.${attempt}.json`;
  }
  life(life: number): string {
    return `${this.own}/${WRAPPER_FILES.life(life)}`;
  }
  exit(life: number): string {
    return `${this.own}/${WRAPPER_FILES.exit(life)}`;
  }
  log(source: LogSource): string {
    return `${this.own}/${source}`;
  }
}

/** `mark` must have passed `markTail`. */
export function jobLayout(workdir: string, mark: string): JobLayout {
  return layoutAt(join(workdir, mark));
}

export function layoutAt(root: string): JobLayout {
  return new JobLayout(root);
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
