import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JobRef, SchedulerAdapter } from "../../src/domain/adapter.ts";
import { apply } from "../../src/domain/lifecycle.ts";
import { submitted, until } from "../contract/scheduler-harness.ts";
import { eventually } from "../support/eventually.ts";
import { markOf, NEVER, scriptSpec } from "../support/jobs.ts";
import { crowdQueue, holdMany } from "../support/slurm/crowd.ts";
import { countingRunner, openSlurm } from "../support/slurm/harness.ts";
import { type SlurmWorld, startSlurmWorld } from "../support/slurm/world.ts";
import { createRequest, sampleRecord } from "../support/store.ts";

const MANY = 1_000;
/** For minutes after they are cancelled they slow down every look of the tests that follow: fewer unless asked for. */
const FOREIGN = Number(process.env["TAILRACE_ROUNDS"] ?? 1) >= 20 ? 10_000 : 2_000;
const WINDOW_MS = 3_000;

let world: SlurmWorld;
let adapter: SchedulerAdapter;
beforeAll(async () => {
  world = await startSlurmWorld();
  const found = world.adapters.get("cluster");
  if (found === undefined) throw new Error("no adapter");
  adapter = found;
});
afterAll(() => world.stop(), 60_000);

/** A task that has been submitted as this job. */
async function watch(job: JobRef): Promise<string> {
  const { store } = world.ledger;
  const before = sampleRecord({ mark: job.mark, target: "cluster", createdAtMs: await store.now() });
  await store.create(createRequest({ record: before }));
  const { record: after, events } = apply(before, { kind: "submitted", job, atMs: before.createdAtMs });
  expect(await store.commit({ before, after, events })).toBe("committed");
  return before.id;
}

/** All that the scheduler is asked within the window. */
async function callsMade(): Promise<Readonly<Record<string, number>>> {
  const before = adapter.usage().total;
  await delay(WINDOW_MS);
  const after = adapter.usage().total;
  return Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  );
}

test("a thousand live jobs cost the scheduler what one does", async () => {
  const jobs = await holdMany(world.cluster, world.workdir, MANY);
  const [first, ...others] = jobs;
  if (first === undefined) throw new Error("no job");
  const one = await watch(first);
  await eventually(async () => expect((await world.record(one)).phase).toBe("held"));
  const ofOne = await callsMade();
  const ids = [one, ...(await Promise.all(others.map(watch)))];
  await eventually(async () => {
    const records = await world.ledger.store.readMany(ids);
    expect([...records.values()].filter(({ phase }) => phase === "held")).toHaveLength(MANY);
  }, 30_000);
  const ofMany = await callsMade();
  const perSecond = WINDOW_MS / 1_000;
  expect(ofOne["squeue"]).toBeGreaterThanOrEqual(perSecond / 2);
  expect(ofMany["squeue"]).toBeGreaterThanOrEqual(1);
  expect(ofMany["squeue"]).toBeLessThanOrEqual(Math.max(perSecond + 1, ofOne["squeue"] ?? 0));
  for (const [name, count] of Object.entries(ofMany))
    if (name !== "squeue") expect({ [name]: count }).toEqual({ [name]: 0 });
  process.stdout.write(
    `squeue calls in ${perSecond} s: 1 job ${ofOne["squeue"]}, ${MANY} jobs ${ofMany["squeue"]}\n`,
  );
}, 120_000);

test("thousands of jobs of others in the queue hide none of ours", async () => {
  const counting = countingRunner();
  const ours = openSlurm(world.workdir, { run: counting.run });
  const request = {
    mark: markOf("test"),
    attempt: 1,
    spec: scriptSpec("exit 5\n", { options: { requeue: false } }),
  };
  const held = {
    ...request,
    mark: markOf("test"),
    spec: scriptSpec("true\n", { options: { extra: ["--hold"] } }),
  };
  const waiting = await submitted(ours, held);
  const crowd = await crowdQueue(world.cluster, FOREIGN);
  try {
    const rows = (await world.cluster.run(["squeue", "-h", "--user=alice"])).split("\n").length - 1;
    expect(rows).toBeGreaterThanOrEqual(FOREIGN);
    expect((await ours.locate([held.mark, markOf("test")], NEVER)).get(held.mark)).toEqual(waiting);
    const job = await submitted(ours, request);
    await until(ours, job, "ended", 40_000);
    counting.calls.length = 0;
    const begunMs = performance.now();
    const seen = await ours.observe([job, waiting], NEVER);
    process.stdout.write(`a look at ${rows} jobs: ${Math.round(performance.now() - begunMs)} ms\n`);
    expect(seen.get(job.id)).toMatchObject({ kind: "ended", end: { exitCode: 5 } });
    expect(seen.get(waiting.id)).toMatchObject({ kind: "held" });
    expect(counting.calls).toHaveLength(1);
  } finally {
    await crowd.leave();
    await ours.close();
  }
}, 180_000);
