/** Files that the wrapper makes in `.tailrace/`, for those who read them. */
export const WRAPPER_FILES = {
  claim: (attempt: number) => `claim.${attempt}`,
  life: (life: number) => `life.${life}.json`,
  exit: (life: number) => `exit.${life}.json`,
  /** Made by us, for the wrapper: the task has ended, so no life begins any more. */
  closed: "closed",
} as const;

/** The variable by which a job's processes are known, whatever session or group they moved to. Holds the job's directory. */
export const COOKIE = "TAILRACE_TASK_DIR";

/** The variable that marks the wrapper's own timers: they are no part of the job and end with it. */
export const TIMER_COOKIE = "TAILRACE_TIMER_OF";
