import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { type FrontDesk, startFrontDesk } from "../../support/front-desk.ts";

let desk: FrontDesk;
beforeEach(async () => {
  desk = await startFrontDesk();
});
afterEach(() => desk.stop());

const TASK = { taskId: "t_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
const CALLS: [string, Record<string, string>][] = [
  ["tasks/get", TASK],
  ["tasks/cancel", TASK],
  ["tasks/update", TASK],
  ["tasks/stream", TASK],
  ["tools/call", { name: "run_case" }],
];

async function expectOutage(method: string, params: Record<string, string>): Promise<string> {
  const startedAt = performance.now();
  const { status, error } = await desk.call(method, params);
  expect(performance.now() - startedAt).toBeLessThan(3000);
  expect(status).toBe(503);
  expect(error).toMatchObject({ code: -32603, data: { reason: "store_unavailable", retryable: true } });
  expect(error.message).not.toContain(desk.redis.path);
  return error.message;
}

test.each(CALLS)("%s answers 503 and −32603 when Redis is killed", async (method, params) => {
  await desk.redis.kill();
  await expectOutage(method, params);
});

test.each(CALLS)("%s answers 503 within about two seconds when Redis hangs", async (method, params) => {
  desk.redis.pause();
  try {
    await expectOutage(method, params);
  } finally {
    desk.redis.resume();
  }
});

test("a create that was not answered says to retry with the same key, and the retry finds what it made", async () => {
  const call = { name: "run_case", arguments: { idempotencyKey: "k" } };
  desk.redis.pause();
  const first = await desk.call("tools/call", call).finally(() => desk.redis.resume());
  expect(first).toMatchObject({
    status: 503,
    error: { message: expect.stringContaining("same key and arguments") },
  });
  const taskId = await eventually(() => desk.create("run_case", { idempotencyKey: "k" }));
  expect(await desk.create("run_case", { idempotencyKey: "k" })).toBe(taskId);
});

test("a create without a key says that a retry may start a second job", async () => {
  await desk.redis.kill();
  expect(await expectOutage("tools/call", { name: "run_case" })).toContain("a second job");
});

test("server/discover and tools/list need no store", async () => {
  await desk.redis.kill();
  for (const method of ["server/discover", "tools/list"]) {
    expect((await desk.call(method)).status).toBe(200);
  }
});
