import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JobRef, SchedulerAdapter } from "../../src/domain/adapter.ts";
import { BridgeError } from "../../src/domain/errors.ts";
import { eventually } from "../support/eventually.ts";
import { markOf, NEVER, quoted, scriptSpec } from "../support/jobs.ts";
import { look, type SchedulerHarness, submitted, until } from "./scheduler-harness.ts";
import { testFilesAndData } from "./scheduler-suite-files.ts";

export type SuiteContext = {
  harness(): SchedulerHarness;
  adapter(): SchedulerAdapter;
  fresh(): string;
};

/** Some tests wait for several jobs in turn, and a scheduler may take seconds to start each and to tell of its end. */
const TIMEOUT_MS = 240_000;

/** The promises of domain/adapter.ts, each on the real scheduler. */
export function testSchedulerAdapter(scheduler: string, start: () => Promise<SchedulerHarness>): void {
  describe(`the scheduler contract: ${scheduler}`, { timeout: TIMEOUT_MS }, () => {
    let running: { harness: SchedulerHarness; adapter: SchedulerAdapter } | null = null;
    beforeAll(async () => {
      const harness = await start();
      running = { harness, adapter: harness.open() };
    });
    afterAll(async () => {
      await running?.adapter.close();
      await running?.harness.close();
    });
    const get = () => {
      if (running === null) throw new Error("the harness has not started");
      return running;
    };
    const context: SuiteContext = {
      harness: () => get().harness,
      adapter: () => get().adapter,
      fresh: () => markOf(get().harness.instance),
    };
    testOnce(context);
    testFaults(context);
    testObserve(context);
    testCancel(context);
    testFilesAndData(context);
  });
}

/** A script that leaves a line in a file of the test's when it starts, and what it then does. */
function countedScript({ harness }: SuiteContext, mark: string, body: string) {
  const path = harness().scratch(`starts-${mark}`);
  return {
    spec: scriptSpec(`#!/bin/sh\necho start >> ${quoted(path)}\n${body}\n`),
    starts: () => (existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0),
  };
}

const HANG = "while :; do sleep 0.1; done";

function testOnce(context: SuiteContext): void {
  const { harness, adapter, fresh } = context;
  const end = (job: JobRef) => until(adapter(), job, "ended", harness().patienceMs);

  describe("A1", () => {
    test("A1 two submits of one mark leave one job, also at once, from two processes, with two numbers", async () => {
      const mark = fresh();
      const { spec, starts } = countedScript(context, mark, "exit 0");
      const others = [harness().open(), harness().open()];
      const [first, second] = others;
      if (first === undefined || second === undefined) throw new Error("two adapters were expected");
      const jobs = await Promise.all([
        submitted(adapter(), { mark, attempt: 1, spec }),
        submitted(first, { mark, attempt: 1, spec }),
        submitted(second, { mark, attempt: 2, spec }),
      ]);
      for (const job of jobs) await end(job);
      const again = await submitted(adapter(), { mark, attempt: 1, spec });
      await end(again);
      await submitted(first, { mark, attempt: 3, spec });
      expect(starts()).toBe(1);
      expect((await adapter().locate([mark], NEVER)).get(mark)).toEqual(again);
      await Promise.all(others.map((one) => one.close()));
    });

    test("A1 an attempt that was seized never runs, whether submitted before or after", async () => {
      const mark = fresh();
      const { spec, starts } = countedScript(context, mark, "exit 0");
      expect(await adapter().seize(mark, 1, NEVER)).toBe("seized");
      expect(await adapter().seize(mark, 1, NEVER)).toBe("seized");
      expect((await adapter().submit({ mark, attempt: 1, spec }, NEVER)).kind).toBe("rejected");
      expect((await adapter().locate([mark], NEVER)).get(mark)).toBeNull();
      const job = await submitted(adapter(), { mark, attempt: 2, spec });
      expect((await end(job)).end).toMatchObject({ kind: "exited", exitCode: 0, started: true });
      expect(await adapter().seize(mark, 2, NEVER)).toBe("started");
      expect(starts()).toBe(1);
    });

    test("A1 a waiting attempt can be seized, and the next one is the job", async () => {
      const slots = await harness().occupy();
      const mark = fresh();
      const { spec, starts } = countedScript(context, mark, "exit 0");
      await submitted(adapter(), { mark, attempt: 1, spec });
      expect(await adapter().seize(mark, 1, NEVER)).toBe("seized");
      const job = await submitted(adapter(), { mark, attempt: 2, spec });
      expect(job.attempt).toBe(2);
      await slots.release();
      await end(job);
      expect(starts()).toBe(1);
    });
  });

  test("A2 after a kill behind the scheduler's yes, locate and the next submit find that job", async () => {
    const mark = fresh();
    const { spec, starts } = countedScript(context, mark, "exit 3");
    await harness().submitAndDie({ mark, attempt: 1, spec });
    const found = (await adapter().locate([mark], NEVER)).get(mark);
    const job = await submitted(adapter(), { mark, attempt: 1, spec });
    expect(found).toEqual(job);
    expect((await end(job)).end.exitCode).toBe(3);
    expect(starts()).toBe(1);
  });
}

function testFaults(context: SuiteContext): void {
  const { harness, adapter, fresh } = context;

  test.each([
    ["a NUL byte", { env: { X: "a\0b" } }, /NUL/],
    ["a name that is none", { env: { "A-B": "x" } }, /name/],
    ["128 KiB in one variable", { env: { X: "x".repeat(131_072) } }, /131072|128 KiB/],
    ["a glob out of the directory", { outputs: ["../**"] }, /leaves the work directory/],
  ])("A3 a refusal for %s is a value with a reason, and leaves nothing behind", async (_, fields, reason) => {
    const mark = fresh();
    const answer = await adapter().submit({ mark, attempt: 1, spec: scriptSpec("echo", fields) }, NEVER);
    expect(answer).toEqual({ kind: "rejected", reason: expect.stringMatching(reason) });
    expect((await adapter().estimate(scriptSpec("echo", fields), NEVER)).accepted).toBe(false);
    expect(await harness().traces(mark)).toEqual([]);
  });

  describe("A4", () => {
    test("A4 a scheduler that cannot be reached is said to be so, and nothing was submitted", async () => {
      const { adapter: cutOff, restore } = await harness().unreachable();
      const mark = fresh();
      const fault = await cutOff
        .submit({ mark, attempt: 1, spec: scriptSpec("echo") }, NEVER)
        .catch((e: unknown) => e);
      await expect(cutOff.locate([mark], NEVER)).rejects.toThrow(BridgeError);
      await expect(cutOff.observe([harness().absent(mark)], NEVER)).rejects.toThrow(BridgeError);
      await cutOff.close();
      await restore();
      expect(fault).toMatchObject({ name: "BridgeError", fault: "unreachable" });
      expect(await harness().traces(mark)).toEqual([]);
    });

    test("A4 when the answer is lost after sending, the fault is uncertain and locate tells", async () => {
      const mark = fresh();
      const { spec, starts } = countedScript(context, mark, "exit 0");
      const fault = await harness().submitAndLoseAnswer({ mark, attempt: 1, spec });
      expect(fault).toMatchObject({ name: "BridgeError", fault: "uncertain", mayHaveHappened: true });
      const job = (await adapter().locate([mark], NEVER)).get(mark);
      if (job == null) throw new Error("the job was not found");
      await until(adapter(), job, "ended", harness().patienceMs);
      expect(starts()).toBe(1);
    });
  });
}

function testObserve(context: SuiteContext): void {
  const { harness, adapter, fresh } = context;
  const patience = () => harness().patienceMs;

  test("A5 every id is answered; what is not there is unknown and never ended", async () => {
    const mark = fresh();
    const real = await submitted(adapter(), { mark, attempt: 1, spec: scriptSpec("exit 0") });
    await until(adapter(), real, "ended", patience());
    const never = [
      harness().absent(fresh()),
      { id: `${mark.slice(-26)}.9`, mark, attempt: 9 },
      { id: "x", mark: "../../etc", attempt: 1 },
    ];
    const seen = await adapter().observe([real, ...never], NEVER);
    expect([...seen.keys()].toSorted()).toEqual([real.id, ...never.map((one) => one.id)].toSorted());
    for (const one of never)
      expect(seen.get(one.id)).toEqual({
        kind: "unknown",
        why: expect.stringMatching(/\S/),
        gone: expect.any(Boolean),
      });
  });

  test("A6 many jobs cost what one that is not there costs, two calls at most", async () => {
    const job = await submitted(adapter(), { mark: fresh(), attempt: 1, spec: scriptSpec("exit 0") });
    await until(adapter(), job, "ended", patience());
    const missing = Array.from({ length: 300 }, () => harness().absent(fresh()));
    const cost = async (jobs: readonly JobRef[]) => {
      const before = await harness().calls();
      expect((await adapter().observe(jobs, NEVER)).size).toBe(jobs.length);
      return (await harness().calls()) - before;
    };
    const one = await cost([harness().absent(fresh())]);
    expect(await cost([job, ...missing])).toBe(one);
    expect(one).toBeLessThanOrEqual(2);
  });

  test("A7 a reported end stays as it is: asked again, by a new process, after a cancel, a seizure, a submit", async () => {
    const mark = fresh();
    const spec = scriptSpec("exit 4");
    const job = await submitted(adapter(), { mark, attempt: 1, spec });
    const first = await until(adapter(), job, "ended", patience());
    expect(first.end).toMatchObject({ kind: "exited", exitCode: 4, signal: null, started: true });
    // Times, cost and whether it may still be requeued can become known later; what happened cannot change.
    const { kind, exitCode, signal, started, requeues } = first.end;
    const same = { kind: "ended", end: { kind, exitCode, signal, started, requeues } };
    expect(await adapter().cancel(job, NEVER)).toBe("already_ended");
    expect(await adapter().seize(mark, 1, NEVER)).toBe("started");
    expect(await submitted(adapter(), { mark, attempt: 1, spec })).toEqual(job);
    expect(await look(adapter(), job)).toMatchObject(same);
    const other = harness().open();
    expect(await look(other, job)).toMatchObject(same);
    await other.close();
  });

  test("a running job tells where and since when, and its end what it cost", async () => {
    const wasSeen = harness().scratch("was-seen");
    const spec = scriptSpec(`until [ -e ${quoted(wasSeen)} ]; do sleep 0.1; done\nsleep 1`);
    const job = await submitted(adapter(), { mark: fresh(), attempt: 1, spec });
    const seen = await until(adapter(), job, "running", patience());
    writeFileSync(wasSeen, "");
    expect(seen.nodes.length).toBe(1);
    const { end } = await until(adapter(), job, "ended", patience());
    expect(end.startedAtMs).toBeLessThanOrEqual(end.endedAtMs ?? 0);
    expect(end.coreSeconds).toBeGreaterThanOrEqual(1);
    expect(end.node).toBe(seen.nodes[0]);
  });
}

function testCancel(context: SuiteContext): void {
  const { harness, adapter, fresh } = context;
  const patience = () => harness().patienceMs;

  describe("A8", () => {
    test("A8 cancel of a running job is repeatable, claims no end, and the end shows the TERM", async () => {
      const mark = fresh();
      const job = await submitted(adapter(), {
        mark,
        attempt: 1,
        spec: scriptSpec(`trap 'exit 9' TERM\necho up\n${HANG}`),
      });
      await eventually(async () => {
        const [chunk] = await adapter().readLogs(
          [{ job, source: "stdout", cursor: null, maxBytes: 100 }],
          NEVER,
        );
        expect(chunk?.bytes.length).toBe(3);
      }, patience());
      expect(await adapter().cancel(job, NEVER)).toBe("asked");
      expect(["asked", "already_ended"]).toContain(await adapter().cancel(job, NEVER));
      const { end } = await until(adapter(), job, "ended", patience());
      // A scheduler may know better than its job's exit code why it ended.
      expect(["exited", "cancelled"]).toContain(end.kind);
      expect(end).toMatchObject({ exitCode: 9, termAtMs: expect.any(Number) });
      expect(await adapter().cancel(job, NEVER)).toBe("already_ended");
      expect(await harness().leftovers(mark)).toEqual([]);
    });

    test("A8 a script that ignores TERM, and children in sessions of their own, are gone at the end", async () => {
      const mark = fresh();
      const body = `trap '' TERM\nsetsid sh -c 'trap "" TERM; setsid sleep 300 & ${HANG}' &\necho up\n${HANG}`;
      const job = await submitted(adapter(), { mark, attempt: 1, spec: scriptSpec(body) });
      await until(adapter(), job, "running", patience());
      expect(await adapter().cancel(job, NEVER)).toBe("asked");
      await until(adapter(), job, "ended", patience());
      expect(await harness().leftovers(mark)).toEqual([]);
    });

    test("A8 a waiting job that is cancelled ends without having started, and what does not exist is not found", async () => {
      const slots = await harness().occupy();
      const mark = fresh();
      const { spec, starts } = countedScript(context, mark, "exit 0");
      const job = await submitted(adapter(), { mark, attempt: 1, spec });
      expect(await look(adapter(), job)).toMatchObject({ kind: "queued" });
      expect(await adapter().cancel(job, NEVER)).toBe("asked");
      const { end } = await until(adapter(), job, "ended", patience());
      expect(end).toMatchObject({ kind: "cancelled", started: false });
      await slots.release();
      expect(starts()).toBe(0);
      expect(await adapter().cancel(harness().absent(fresh()), NEVER)).toBe("not_found");
    });
  });
}
