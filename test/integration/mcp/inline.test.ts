import { afterEach, expect, test } from "vitest";
import { NO_FINDINGS } from "../../../src/domain/findings.ts";
import { concludeOutcome } from "../../../src/domain/outcome.ts";
import { eventually } from "../../support/eventually.ts";
import { ALICE, type FrontDesk, startFrontDesk, toolOf } from "../../support/front-desk.ts";
import {
  concluded,
  jobEnd,
  RESULT,
  sawEnd,
  sawQueued,
  sawRunning,
  submitted,
} from "../../support/records.ts";

let desk: FrontDesk;
afterEach(() => desk.stop());

const PLAIN = { declares: false } as const;
const LEASED = { kind: "attempt_leased", attempt: 1, leaseUntilMs: 9e12 } as const;
const SUCCEEDED = {
  kind: "concluded",
  outcome: concludeOutcome(jobEnd(), NO_FINDINGS, false),
  result: { ...RESULT, summary: "p 1e-6" },
} as const;

/** The task that the only waiting call has made. */
function madeTask(): Promise<string> {
  return eventually(() => {
    const id = desk.hastened.at(-1)?.replace("submit:", "");
    if (id === undefined) throw new Error("no task was made yet");
    return id;
  });
}

test("T1 a job that ends in time is the plain call's own result", async () => {
  desk = await startFrontDesk();
  const calling = desk.call("tools/call", { name: "run_case" }, PLAIN);
  const taskId = await madeTask();
  await desk.tell(taskId, LEASED, submitted, sawQueued, sawRunning(), sawEnd(), SUCCEEDED);
  const { status, result } = await calling;
  expect(status).toBe(200);
  expect(result).toMatchObject({
    resultType: "complete",
    isError: false,
    content: [{ type: "text", text: expect.stringMatching(/^Succeeded · ran 0s on n1 · p 1e-6$/) }, {}],
    structuredContent: { outcome: { kind: "succeeded", ok: true } },
    _meta: { "io.modelcontextprotocol/serverInfo": expect.anything() },
  });
});

test("T1 a tool that runs only as a task answers −32021 at once, and makes none", async () => {
  desk = await startFrontDesk({ tools: [toolOf({ tasks: "required" })] });
  expect(await desk.call("tools/call", { name: "run_case" }, PLAIN)).toMatchObject({
    status: 400,
    error: {
      code: -32021,
      data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
    },
  });
  expect(desk.hastened).toEqual([]);
});

test("T1 the old capabilities.tasks is no declaration", async () => {
  desk = await startFrontDesk({ tools: [toolOf({ tasks: "required" })] });
  const meta = { "io.modelcontextprotocol/clientCapabilities": { tasks: {} } };
  expect(await desk.call("tools/call", { name: "run_case" }, { meta })).toMatchObject({
    error: { code: -32021 },
  });
});

test("C17 a call without a key that waits in vain is −32021, and its job is cancelled", async () => {
  desk = await startFrontDesk({ inlineWaitMs: 100 });
  const { status, error } = await desk.call("tools/call", { name: "run_case" }, PLAIN);
  expect([status, error.code]).toEqual([400, -32021]);
  expect(error.message).toContain("being cancelled");
  const record = (await desk.store.read(await madeTask()))?.record;
  expect(record?.cancel).not.toBeNull();
});

test("C17 with a key the job goes on, and the same call finds its result", async () => {
  desk = await startFrontDesk({ inlineWaitMs: 100 });
  const call = { name: "run_case", arguments: { idempotencyKey: "k" } };
  const { error } = await desk.call("tools/call", call, PLAIN);
  expect(error).toMatchObject({ code: -32021, message: expect.stringContaining("same idempotency key") });
  const taskId = await madeTask();
  expect((await desk.store.read(taskId))?.record.cancel).toBeNull();
  await desk.tell(taskId, LEASED, submitted, sawRunning(), sawEnd(), SUCCEEDED);
  expect((await desk.call("tools/call", call, PLAIN)).result).toMatchObject({ isError: false });
});

test("C17 hanging up while waiting cancels a job without a key, and leaves one with a key alone", async () => {
  desk = await startFrontDesk();
  for (const args of [{}, { idempotencyKey: "k" }]) {
    desk.hastened.length = 0;
    const control = new AbortController();
    const params = { name: "run_case", arguments: args };
    const calling = desk.open("tools/call", params, { ...PLAIN, signal: control.signal });
    const taskId = await madeTask();
    control.abort();
    await expect(calling).rejects.toThrow();
    if (!("idempotencyKey" in args)) {
      await eventually(async () => expect((await desk.store.read(taskId))?.record.cancel).not.toBeNull());
    } else {
      await desk.tell(taskId, LEASED, submitted, sawRunning(), sawEnd(), SUCCEEDED);
      expect((await desk.store.read(taskId))?.record.cancel).toBeNull();
    }
  }
});

test("T14 a job that asks a client that cannot answer is told at once", async () => {
  desk = await startFrontDesk();
  const calling = desk.call("tools/call", { name: "run_case", arguments: { idempotencyKey: "k" } }, PLAIN);
  const taskId = await madeTask();
  const request = { method: "elicitation/create", params: { message: "Sure?", requestedSchema: {} } };
  await desk.tell(taskId, LEASED, submitted, sawRunning(), { kind: "input_requested", key: "a", request });
  expect((await calling).error).toMatchObject({
    code: -32021,
    message: expect.stringContaining("asks for input"),
  });
});

test("a cancelled job is a plain call's error result", async () => {
  desk = await startFrontDesk();
  const calling = desk.call("tools/call", { name: "run_case" }, PLAIN);
  const taskId = await madeTask();
  await desk.call("tasks/cancel", { taskId });
  await desk.tell(taskId, LEASED, submitted, sawRunning(), sawEnd(), concluded);
  expect((await calling).result).toMatchObject({
    isError: true,
    structuredContent: { outcome: { kind: "cancelled" } },
  });
});

test("C17 a client with Tasks that hangs up before it learns of its task leaves none running without a key", async () => {
  let arrived = () => {};
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  desk = await startFrontDesk({
    authenticate: () => {
      arrived();
      return { kind: "known", principal: ALICE };
    },
  });
  desk.redis.pause();
  const control = new AbortController();
  const calling = desk.open("tools/call", { name: "run_case" }, { signal: control.signal });
  await arrival;
  control.abort();
  await expect(calling).rejects.toThrow();
  desk.redis.resume();
  const taskId = await madeTask();
  await eventually(async () => expect((await desk.store.read(taskId))?.record.cancel).not.toBeNull());
});
