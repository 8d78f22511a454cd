import { afterEach, beforeEach, expect, test } from "vitest";
import type { SchedulerAdapter } from "../../../src/domain/adapter.ts";
import { insist } from "../../../src/domain/advance.ts";
import { BridgeError } from "../../../src/domain/errors.ts";
import type { EventDraft } from "../../../src/domain/event.ts";
import { NO_FINDINGS } from "../../../src/domain/findings.ts";
import type { LogPipeline } from "../../../src/domain/translator.ts";
import { followTask } from "../../../workers/follow.ts";
import { submitTask } from "../../../workers/submit.ts";
import { watchTarget } from "../../../workers/watch.ts";
import { type Bench, GO_ON, startBench } from "../../support/bench-target.ts";
import { eventually } from "../../support/eventually.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await startBench();
});
afterEach(() => bench.stop());

/** Runs a job to its end and leaves the rest to follow. */
async function ended(script: string): Promise<string> {
  const taskId = await bench.accept(script);
  await submitTask(bench.deps(), taskId, GO_ON);
  await eventually(async () => {
    await watchTarget(bench.deps(), GO_ON);
    expect((await bench.store.read(taskId))?.record.phase).toBe("collecting");
  });
  return taskId;
}

async function typesOf(taskId: string): Promise<string[]> {
  const page = await bench.store.readEvents(taskId, null, 100);
  return (page?.events ?? []).map((text) => /"type":"dev\.tailrace\.([^"]+)"/.exec(text)?.[1] ?? "");
}

/** Says every line of stdout once, and something of its own at the end. */
function linePipeline(snapshot: unknown): LogPipeline {
  let text = typeof snapshot === "string" ? snapshot : "";
  let held: EventDraft[] = [];
  return {
    feed(source, bytes) {
      if (source !== "stdout") return;
      const lines = (text + new TextDecoder().decode(bytes)).split("\n");
      text = lines.pop() ?? "";
      held.push(...lines.map((line) => ({ type: "line", payload: { line } })));
    },
    take(_nowMs, { final }) {
      if (!final) return [];
      const events = held;
      held = [];
      return events;
    },
    inputs: () => [],
    snapshot: () => text,
    progress: () => ({ text: null, current: null, total: null, unit: null, etaSeconds: null, metrics: {} }),
    findings: () => NO_FINDINGS,
    tail: () => [],
    conclude: () => [{ type: "solver.finished", payload: {} }],
  };
}

test("a log that can never be read holds the task only until the collect timeout, and the outcome says so", async () => {
  const taskId = await ended("echo hello");
  const faults: Partial<SchedulerAdapter> = {
    readLogs: () => Promise.reject(new BridgeError("unreadable", "here", "stale file handle")),
  };
  await followTask(bench.deps(faults, { collectTimeoutMs: 500 }), taskId, GO_ON);
  expect((await bench.store.read(taskId))?.record).toMatchObject({
    phase: "ended",
    outcome: { kind: "succeeded", reason: "the log could not be read to its end" },
  });
});

test("outputs that can never be collected end the task without them, and the outcome says so", async () => {
  const taskId = await ended("echo x > out.txt");
  const faults: Partial<SchedulerAdapter> = {
    collect: () => Promise.reject(new BridgeError("unreachable", "here", "no route to host")),
  };
  await followTask(bench.deps(faults, { collectTimeoutMs: 1 }), taskId, GO_ON);
  expect((await bench.store.read(taskId))?.record).toMatchObject({
    phase: "ended",
    outcome: { kind: "succeeded", reason: "outputs not collected: no route to host" },
  });
});

test("a cancel that comes in the middle of the last step costs no event and repeats none", async () => {
  const taskId = await ended("echo one; echo two");
  let meddled = false;
  const deps = bench.deps({
    async collect(job, request, signal) {
      if (!meddled) {
        meddled = true;
        const atMs = await bench.store.now();
        await insist(deps, taskId, () => ({ kind: "cancel_requested", by: "alice", atMs }));
      }
      return bench.adapter.collect(job, request, signal);
    },
  });
  await followTask({ ...deps, createPipeline: ({ snapshot }) => linePipeline(snapshot) }, taskId, GO_ON);
  const types = await typesOf(taskId);
  expect(types.filter((type) => type === "line")).toHaveLength(2);
  expect(types.filter((type) => type === "solver.finished")).toHaveLength(1);
  expect(types.at(-1)).toBe("task.ended");
  expect((await bench.store.read(taskId))?.record.outcome?.kind).toBe("succeeded");
});

test("two followers of one task: the older one stops without a write, and every event is told once", async () => {
  const taskId = await ended("for n in 1 2 3 4 5; do echo $n; done");
  const deps = {
    ...bench.deps(),
    createPipeline: ({ snapshot }: { snapshot: unknown }) => linePipeline(snapshot),
  };
  await Promise.all([followTask(deps, taskId, GO_ON), followTask(deps, taskId, GO_ON)]);
  const types = await typesOf(taskId);
  expect(types.filter((type) => type === "line")).toHaveLength(5);
  expect(types.filter((type) => type === "task.ended")).toHaveLength(1);
});

test("a question is recorded before the cursor moves past it, and asked once although the write was lost", async () => {
  const message = { type: "input", key: "k", message: "?", schema: { type: "object", properties: {} } };
  const taskId = await ended(`printf '%s\\n' '${JSON.stringify(message)}' >> "$TAILRACE_MESSAGES"`);
  let recordedBefore: number | undefined;
  const store: typeof bench.store = {
    ...bench.store,
    async append(request) {
      if (recordedBefore !== undefined) return bench.store.append(request);
      recordedBefore = (await bench.store.read(taskId))?.record.inputs.length;
      return "fenced";
    },
  };
  await followTask({ ...bench.deps(), store }, taskId, GO_ON);
  expect(recordedBefore).toBe(1);
  const types = await typesOf(taskId);
  expect(types.filter((type) => type === "input.requested")).toHaveLength(1);
  expect(types.at(-1)).toBe("task.ended");
});
