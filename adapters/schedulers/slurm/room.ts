import type { CommandCounter } from "../shared/command-counter.ts";
import type { CommandRunner } from "../shared/command-runner.ts";
import type { Facts } from "./facts.ts";
import type { Pace } from "./pace.ts";
import type { SlurmTarget } from "./target.ts";
import type { Users } from "./users.ts";

/** What the parts of the Slurm adapter share. */
export type SlurmRoom = {
  /** The target's name, for messages. */
  readonly target: string;
  readonly instance: string;
  readonly config: SlurmTarget;
  /** Absolute and real: no link in it. */
  readonly workdir: string;
  readonly run: CommandRunner;
  readonly counter: CommandCounter;
  readonly pace: Pace;
  readonly facts: Facts;
  readonly users: Users;
  /** ms since the epoch. */
  readonly now: () => number;
};
