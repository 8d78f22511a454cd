import { afterAll, expect, test } from "vitest";
import { look, submitted, until } from "../contract/scheduler-harness.ts";
import { eventually } from "../support/eventually.ts";
import { markOf, NEVER, scriptSpec } from "../support/jobs.ts";
import { clusterFromEnv } from "../support/slurm/cluster.ts";
import { openSlurm, SLURM_INSTANCE, slurmDirectory } from "../support/slurm/harness.ts";

const directory = slurmDirectory();
const adapter = openSlurm(directory.workdir);
afterAll(async () => {
  await adapter.close();
  directory.remove();
});

test("a job whose name and comment an administrator changed is still seen to run, and is stopped", async () => {
  const spec = { ...scriptSpec("exec sleep 300\n"), options: { requeue: false } };
  const job = await submitted(adapter, { mark: markOf(SLURM_INSTANCE), attempt: 1, spec });
  await until(adapter, job, "running", 20_000);
  await clusterFromEnv().run(["scontrol", "update", `jobid=${job.id}`, "jobname=theirs", "comment=theirs"]);
  await eventually(async () => {
    expect((await clusterFromEnv().run(["squeue", "-h", "-j", job.id, "-o", "%j"])).trim()).toBe("theirs");
  }, 10_000);
  expect(await look(adapter, job)).toMatchObject({ kind: "running" });
  expect(await adapter.cancel(job, NEVER)).toBe("asked");
  expect((await until(adapter, job, "ended", 20_000)).end.kind).toBe("cancelled");
}, 60_000);
