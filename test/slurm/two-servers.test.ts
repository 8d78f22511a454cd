import { afterAll, expect, test } from "vitest";
import { look, submitted, until } from "../contract/scheduler-harness.ts";
import { markOf, NEVER, scriptSpec } from "../support/jobs.ts";
import { openSlurm, SLURM_INSTANCE, slurmDirectory } from "../support/slurm/harness.ts";

const here = slurmDirectory();
const there = slurmDirectory();
const ours = openSlurm(here.workdir);
const theirs = openSlurm(there.workdir);

afterAll(async () => {
  await Promise.all([ours.close(), theirs.close()]);
  here.remove();
  there.remove();
});

test("the same mark of another work directory is another job: neither found, nor observed, nor cancelled", async () => {
  const mark = markOf(SLURM_INSTANCE);
  const spec = scriptSpec("while :; do sleep 0.1; done");
  const other = await submitted(theirs, { mark, attempt: 1, spec });
  await until(theirs, other, "running", 25_000);
  const job = await submitted(ours, { mark, attempt: 1, spec: scriptSpec("exit 7") });
  expect(job.id).not.toBe(other.id);
  const { end } = await until(ours, job, "ended", 25_000);
  expect(end).toMatchObject({ kind: "exited", exitCode: 7, started: true });
  const mistaken = { ...other, attempt: 2 };
  expect(await look(ours, mistaken)).toMatchObject({ kind: "unknown" });
  expect(await ours.cancel(mistaken, NEVER)).toBe("not_found");
  expect(await look(theirs, other)).toMatchObject({ kind: "running" });
  expect(await theirs.cancel(other, NEVER)).toBe("asked");
  await until(theirs, other, "ended", 25_000);
});
