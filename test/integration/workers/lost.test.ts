import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JobRef, Observation, SchedulerAdapter } from "../../../src/domain/adapter.ts";
import { BridgeError } from "../../../src/domain/errors.ts";
import { submitTask } from "../../../workers/submit.ts";
import { watchTarget } from "../../../workers/watch.ts";
import { type Bench, GO_ON, startBench } from "../../support/bench-target.ts";
import { eventually } from "../../support/eventually.ts";

const SOON = { lostAfterMs: 1, lostLooks: 3 };

let bench: Bench;
let taskId: string;
beforeEach(async () => {
  bench = await startBench();
  taskId = await bench.accept();
  await eventually(async () => {
    await submitTask(bench.deps(), taskId, GO_ON);
    expect(await trulySeen()).toMatchObject({ kind: "ended" });
  });
});
afterEach(() => bench.stop());

async function record() {
  const stored = await bench.store.read(taskId);
  if (stored === null) throw new Error("the task is gone");
  return stored.record;
}

async function jobOf(): Promise<JobRef> {
  const { job } = await record();
  if (job === null) throw new Error("no job");
  return job;
}

async function trulySeen(): Promise<Observation | undefined> {
  const job = await jobOf();
  return (await bench.adapter.observe([job], GO_ON)).get(job.id);
}

/** So many looks, each at once. */
async function look(times: number, faults: Partial<SchedulerAdapter>): Promise<void> {
  for (let n = 0; n < times; n++) {
    await bench.store.reschedule("here", [{ member: `watch:${taskId}`, inMs: 0 }]);
    await watchTarget(bench.deps(faults, SOON), GO_ON);
  }
}

const seeing = (seen: Observation): Pick<SchedulerAdapter, "observe"> => ({
  observe: (jobs) => Promise.resolve(new Map(jobs.map((job) => [job.id, seen]))),
});
const GONE = seeing({ kind: "unknown", why: "nobody has it", gone: true });
const SILENT = seeing({ kind: "unknown", why: "slurmdbd is down", gone: false });

function locating(change: (job: JobRef) => JobRef | null): Pick<SchedulerAdapter, "locate"> {
  return {
    locate: async (marks) => {
      const job = change(await jobOf());
      return new Map(marks.map((mark) => [mark, job]));
    },
  };
}

test("a job that no witness has, look after look, is lost, though its mark still leads to it", async () => {
  const faults = { ...GONE, ...locating((job) => job) };
  await look(2, faults);
  expect((await record()).phase).toBe("queued");
  await eventually(async () => {
    await look(1, faults);
    const { phase, outcome } = await record();
    expect({ phase, kind: outcome?.kind, reason: outcome?.reason }).toEqual({
      phase: "ended",
      kind: "lost",
      reason: expect.stringMatching(/^no witness has seen job .+ for 0 min: nobody has it$/),
    });
  });
});

test("looks that could not tell make no job lost, however many, nor do they hide those that could", async () => {
  await look(10, { ...SILENT, ...locating(() => null) });
  expect(await record()).toMatchObject({ phase: "queued", unseen: { looks: 10, gone: null } });
  await look(2, { ...GONE, ...locating(() => null) });
  await look(3, { ...SILENT, ...locating(() => null) });
  expect(await record()).toMatchObject({ phase: "queued", unseen: { looks: 15, gone: { looks: 2 } } });
  await eventually(async () => {
    await look(1, { ...GONE, ...locating(() => null) });
    expect((await record()).phase).toBe("ended");
  });
});

test("while the mark has another job the task goes on, and its looks are counted anew", async () => {
  let asked = 0;
  const other = locating((job) => {
    asked += 1;
    return { ...job, id: `${job.id}0`, attempt: 2 };
  });
  await look(12, { ...GONE, ...other });
  expect(await record()).toMatchObject({ phase: "queued", job: await jobOf() });
  expect((await record()).unseen?.gone?.looks ?? 0).toBeLessThan(SOON.lostLooks);
  expect(asked).toBeGreaterThanOrEqual(2);
  expect(asked).toBeLessThanOrEqual(4);
});

test("a mark that cannot be looked up keeps the task going", async () => {
  const locate = () => Promise.reject(new BridgeError("unreachable", "here", "connection refused"));
  await look(6, { ...GONE, locate });
  await look(6, { ...GONE, locate: () => Promise.resolve(new Map()) });
  expect((await record()).phase).toBe("queued");
});

test("a local job is gone when its directory is, and not when its records cannot be read", async () => {
  const job = await jobOf();
  const root = join(bench.dir, "jobs/here", job.mark);
  writeFileSync(join(root, ".tailrace/attempt.1"), "garbage");
  expect(await trulySeen()).toMatchObject({ kind: "unknown", gone: false });
  rmSync(root, { recursive: true });
  expect(await trulySeen()).toMatchObject({ kind: "unknown", gone: true });
});
