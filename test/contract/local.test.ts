import { expect, test } from "vitest";
import { markOf, scriptSpec } from "../support/jobs.ts";
import { INSTANCE, startLocalHarness } from "../support/local-scheduler.ts";
import { look, submitted, until } from "./scheduler-harness.ts";
import { testSchedulerAdapter } from "./scheduler-suite.ts";

testSchedulerAdapter("local", startLocalHarness);

test("the end of a local job is settled at once, and told by every process to the letter", async () => {
  const harness = await startLocalHarness();
  const [adapter, other] = [harness.open(), harness.open()];
  const request = { mark: markOf(INSTANCE), attempt: 1, spec: scriptSpec("exit 4") };
  const job = await submitted(adapter, request);
  const first = await until(adapter, job, "ended", harness.patienceMs);
  expect(first.end.settled).toBe(true);
  expect(await look(other, job)).toEqual(first);
  await Promise.all([adapter.close(), other.close()]);
  await harness.close();
});
