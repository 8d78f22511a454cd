import { startLocalHarness } from "../support/local-scheduler.ts";
import { testSchedulerAdapter } from "./scheduler-suite.ts";

testSchedulerAdapter("local", startLocalHarness);
