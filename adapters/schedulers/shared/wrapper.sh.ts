import { CLAIM_PART } from "./wrapper-claim.sh.ts";
import { RUN_PART } from "./wrapper-run.sh.ts";
import { SIGNALS_PART } from "./wrapper-signals.sh.ts";

/**
 * The job's wrapper: plain POSIX sh, safe under `set -u`, for dash, busybox and bash alike.
 *
 * `sh wrapper DIR ATTEMPT IDENTITY WALLTIME GRACE [REQUEUES]`. DIR is the job's directory. IDENTITY names the scheduler's job; the
 * word `process` stands for this very process (`local:pid:start ticks:boot id`). WALLTIME and GRACE are seconds, 0 for
 * never: Slurm and Kubernetes bring their own. REQUEUES is the scheduler's own count of this job's requeues; without it, or
 * with `-`, lives are counted here.
 *
 * It takes `claim.ATTEMPT`, runs `.tailrace/run` in `work/`, passes signals on, and writes `exit.LIFE.json`. Signal
 * handlers use builtins alone: any other command would reap the job's status behind `wait`'s back.
 */
export const WRAPPER = `${SIGNALS_PART}${CLAIM_PART}${RUN_PART}`;
