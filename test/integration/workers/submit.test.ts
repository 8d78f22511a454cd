import { afterEach, beforeEach, expect, test } from "vitest";
import type { SchedulerAdapter } from "../../../src/domain/adapter.ts";
import { insist } from "../../../src/domain/advance.ts";
import { BridgeError } from "../../../src/domain/errors.ts";
import { submitTask } from "../../../workers/submit.ts";
import { watchTarget } from "../../../workers/watch.ts";
import { type Bench, GO_ON, startBench } from "../../support/bench-target.ts";
import { eventually } from "../../support/eventually.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await startBench();
});
afterEach(() => bench.stop());

async function phaseOf(taskId: string) {
  return (await bench.store.read(taskId))?.record.phase;
}

/** Looks until the job's end is known; follow would take it from there. */
async function watchToTheEnd(taskId: string): Promise<void> {
  await eventually(async () => {
    await watchTarget(bench.deps(), GO_ON);
    expect(await phaseOf(taskId)).toBe("collecting");
  });
}

/** Submits, and then loses the answer. */
function losingReplies(times: number): Partial<SchedulerAdapter> {
  let lost = 0;
  return {
    async submit(request, signal) {
      const answer = await bench.adapter.submit(request, signal);
      lost += 1;
      if (lost > times) return answer;
      throw new BridgeError("uncertain", "here", "sbatch: the reply was lost");
    },
  };
}

test("a lost reply is waited out and the job is found by its mark, not submitted again", async () => {
  const taskId = await bench.accept();
  let submits = 0;
  const faults = losingReplies(1);
  const counted: Partial<SchedulerAdapter> = {
    submit: (request, signal) => {
      submits += 1;
      return faults.submit?.(request, signal) ?? Promise.reject(new Error("no submit"));
    },
  };
  const deps = bench.deps(counted);
  await submitTask(deps, taskId, GO_ON);
  expect(await phaseOf(taskId)).toBe("submitting");
  await submitTask(deps, taskId, GO_ON);
  expect(submits).toBe(1);
  await eventually(async () => {
    await submitTask(deps, taskId, GO_ON);
    expect(await phaseOf(taskId)).toBe("queued");
  });
  await watchToTheEnd(taskId);
  expect({ submits, starts: bench.starts() }).toEqual({ submits: 1, starts: 1 });
});

test("a scheduler that cannot be reached is tried again, and the job starts once", async () => {
  const taskId = await bench.accept();
  let away = 3;
  const deps = bench.deps({
    submit: (request, signal) => {
      away -= 1;
      return away >= 0
        ? Promise.reject(new BridgeError("unreachable", "here", "connection refused"))
        : bench.adapter.submit(request, signal);
    },
  });
  await submitTask(deps, taskId, GO_ON);
  expect((await bench.store.read(taskId))?.record).toMatchObject({
    phase: "submitting",
    reason: "connection refused",
    leaseUntilMs: null,
  });
  await eventually(async () => {
    await submitTask(deps, taskId, GO_ON);
    expect(await phaseOf(taskId)).toBe("queued");
  });
  await watchToTheEnd(taskId);
  expect(bench.starts()).toBe(1);
});

test("an attempt that was never sent is shut out by its claim before the next is made", async () => {
  const taskId = await bench.accept();
  // The submitter died between its lease and the scheduler: what it would have sent may still arrive.
  let late: () => Promise<unknown> = () => Promise.reject(new Error("nothing was sent"));
  const dying = bench.deps({
    submit: (request) => {
      late = () => bench.adapter.submit(request, GO_ON);
      return Promise.reject(new BridgeError("uncertain", "here", "killed"));
    },
  });
  await submitTask(dying, taskId, GO_ON);
  await eventually(async () => {
    await submitTask(bench.deps(), taskId, GO_ON);
    expect(await phaseOf(taskId)).toBe("queued");
  });
  await late();
  await watchToTheEnd(taskId);
  expect(bench.starts()).toBe(1);
  expect((await bench.store.read(taskId))?.record.attempt).toBe(2);
});

test.each<[string, number, number | undefined, number]>([
  ["the scheduler allows", 250, undefined, 250],
  ["the operator allows, when that is less", 60_000, 150, 150],
])(
  "a submit without an answer is given as long as %s, and its lease outlasts it",
  async (_, submitMs, submitTimeoutMs, withinMs) => {
    const taskId = await bench.accept();
    const faults: Partial<SchedulerAdapter> = {
      limits: { ...bench.adapter.limits, submitMs },
      submit: (_request, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    };
    const beganMs = await bench.store.now();
    await submitTask(bench.deps(faults, { submitTimeoutMs, leaseMarginMs: 5_000 }), taskId, GO_ON);
    const record = (await bench.store.read(taskId))?.record;
    expect(record).toMatchObject({
      phase: "submitting",
      reason: `target here: no answer within ${withinMs} ms`,
    });
    expect(record?.leaseUntilMs).toBeGreaterThanOrEqual(beganMs + withinMs + 5_000);
    expect(record?.leaseUntilMs).toBeLessThan(beganMs + withinMs + 5_000 + 4_000);
  },
);

test("ten submitters of one task leave one job", async () => {
  const taskId = await bench.accept();
  await Promise.all(Array.from({ length: 10 }, () => submitTask(bench.deps(), taskId, GO_ON)));
  await watchToTheEnd(taskId);
  expect(bench.starts()).toBe(1);
});

test("a refusal ends the task with the scheduler's own reason, and nothing runs", async () => {
  const taskId = await bench.accept();
  const deps = bench.deps({
    submit: () => Promise.resolve({ kind: "rejected", reason: "invalid partition specified: gpux" }),
  });
  await submitTask(deps, taskId, GO_ON);
  expect((await bench.store.read(taskId))?.record).toMatchObject({
    phase: "ended",
    outcome: { kind: "rejected", reason: "invalid partition specified: gpux" },
  });
  expect(bench.starts()).toBe(0);
});

test("a cancel while an attempt is uncertain does not end the task until that attempt is settled", async () => {
  const taskId = await bench.accept("sleep 30");
  const deps = bench.deps(losingReplies(1));
  await submitTask(deps, taskId, GO_ON);
  const atMs = await bench.store.now();
  await insist(deps, taskId, (record) =>
    record.cancel === null ? { kind: "cancel_requested", by: "alice", atMs } : null,
  );
  await submitTask(deps, taskId, GO_ON);
  expect(await phaseOf(taskId)).toBe("submitting");
  await eventually(async () => {
    await submitTask(deps, taskId, GO_ON);
    expect(await phaseOf(taskId)).toBe("queued");
  });
  const job = (await bench.store.read(taskId))?.record.job;
  if (job === null || job === undefined) throw new Error("no job");
  await bench.adapter.cancel(job, GO_ON);
});

test("a cancel ends a task whose every try sent nothing, though the target still cannot be reached", async () => {
  const taskId = await bench.accept();
  const away = () => Promise.reject(new BridgeError("unreachable", "here", "the disk is full"));
  const deps = bench.deps({ submit: away, locate: away, seize: away });
  await submitTask(deps, taskId, GO_ON);
  await submitTask(deps, taskId, GO_ON);
  expect(await phaseOf(taskId)).toBe("submitting");
  const atMs = await bench.store.now();
  await insist(deps, taskId, () => ({ kind: "cancel_requested", by: "alice", atMs }));
  await submitTask(deps, taskId, GO_ON);
  expect((await bench.store.read(taskId))?.record).toMatchObject({
    phase: "ended",
    outcome: { kind: "cancelled" },
  });
  expect(bench.starts()).toBe(0);
});

test("a cancel waits for the target when the fate of a try is not known", async () => {
  const taskId = await bench.accept();
  const away = () => Promise.reject(new BridgeError("unreachable", "here", "the disk is full"));
  const deps = bench.deps({ ...losingReplies(1), locate: away, seize: away });
  await submitTask(deps, taskId, GO_ON);
  const atMs = await bench.store.now();
  await insist(deps, taskId, () => ({ kind: "cancel_requested", by: "alice", atMs }));
  const leaseUntilMs = (await bench.store.read(taskId))?.record.leaseUntilMs ?? 0;
  await eventually(async () => expect(await bench.store.now()).toBeGreaterThan(leaseUntilMs));
  await submitTask(deps, taskId, GO_ON);
  expect(await phaseOf(taskId)).toBe("submitting");
});

test("a target that cannot be asked leaves its tasks as they are, and each says why", async () => {
  const taskId = await bench.accept("sleep 30");
  await submitTask(bench.deps(), taskId, GO_ON);
  const refuse = () => Promise.reject(new BridgeError("unreachable", "here", "squeue did not answer"));
  const unseen = async () => (await bench.store.read(taskId))?.record.unseen ?? null;
  for (const looks of [1, 2]) {
    await bench.store.reschedule("here", [{ member: `watch:${taskId}`, inMs: 0 }]);
    await watchTarget(bench.deps({ observe: refuse }), GO_ON);
    expect(await unseen()).toMatchObject({ looks, why: "squeue did not answer", gone: null });
  }
  await bench.store.reschedule("here", [{ member: `watch:${taskId}`, inMs: 0 }]);
  await watchTarget(bench.deps(), GO_ON);
  expect(await unseen()).toBeNull();
});

test("a garbled or silent observation changes nothing, however often it comes", async () => {
  const taskId = await bench.accept("sleep 30");
  await submitTask(bench.deps(), taskId, GO_ON);
  await eventually(async () => {
    await watchTarget(bench.deps(), GO_ON);
    expect(await phaseOf(taskId)).toBe("running");
  });
  const faults: Partial<SchedulerAdapter>[] = [
    { observe: () => Promise.reject(new BridgeError("unreadable", "here", "squeue printed garbage")) },
    { observe: () => Promise.resolve(new Map()) },
    {
      observe: (jobs) =>
        Promise.resolve(
          new Map(jobs.map((job) => [job.id, { kind: "unknown" as const, why: "not listed", gone: false }])),
        ),
    },
  ];
  for (const fault of faults) {
    await bench.store.reschedule("here", [{ member: `watch:${taskId}`, inMs: 0 }]);
    await watchTarget(bench.deps(fault), GO_ON);
    expect(await phaseOf(taskId)).toBe("running");
  }
  const job = (await bench.store.read(taskId))?.record.job;
  if (job === null || job === undefined) throw new Error("no job");
  await bench.adapter.cancel(job, GO_ON);
});
