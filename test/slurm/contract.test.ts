import { testSchedulerAdapter } from "../contract/scheduler-suite.ts";
import { startSlurmHarness } from "../support/slurm/harness.ts";

testSchedulerAdapter("slurm", startSlurmHarness);
