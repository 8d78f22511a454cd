import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Not a literal in the call: knip would look for an npm package that brings it. */
const SCONTROL = "scontrol";
const HOW = 'start one with: eval "$(npm run --silent slurm:up)"';

/** The slurm.conf that SLURM_CONF names; throws a sentence that says what to do when it names none. */
export function namedConf(): { readonly conf: string; readonly text: string } {
  const conf = process.env["SLURM_CONF"];
  if (conf === undefined || conf === "") throw new Error(`SLURM_CONF names no cluster; ${HOW}`);
  try {
    return { conf, text: readFileSync(conf, "utf8") };
  } catch (cause) {
    throw new Error(`SLURM_CONF names ${conf}, which cannot be read; ${HOW}`, { cause });
  }
}

/** Null when the cluster that SLURM_CONF names answers, else a sentence that says why not and what to do. */
export function clusterProblem(): string | null {
  try {
    const { conf } = namedConf();
    // A controller that is gone answers at once, one that hangs never.
    const ping = spawnSync(SCONTROL, ["ping"], {
      encoding: "utf8",
      timeout: 10_000,
      killSignal: "SIGKILL",
    });
    if (ping.status === 0) return null;
    return `the controller of ${conf} does not answer \`scontrol ping\`; ${HOW}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
