import { expect, test } from "vitest";
import type { LogChunk, LogRequest } from "../../../src/domain/adapter.ts";
import { createLogRoom } from "../../../workers/log-room.ts";

const job = { id: "j", mark: "tr-a-aaaaaaaaaaaaaaaaaaaaaaaaaa", attempt: 1 };

function request(source: LogRequest["source"]): LogRequest {
  return { job, source, cursor: null, maxBytes: 10 };
}

function chunkOf(text: string): LogChunk {
  return { bytes: new TextEncoder().encode(text), cursor: null, atEnd: true, restarted: false };
}

function roomWith(readLogs: (requests: readonly LogRequest[]) => Promise<LogChunk[]>) {
  return createLogRoom({ readLogs, clock: () => performance.now(), gatherMs: 5 });
}

test("requests that come together go to the target in one call, and each caller gets its own chunks", async () => {
  const calls: number[] = [];
  const room = roomWith((requests) => {
    calls.push(requests.length);
    return Promise.resolve(requests.map((one, index) => chunkOf(`${one.source}${index}`)));
  });
  const never = new AbortController().signal;
  const [first, second] = await Promise.all([
    room.read([request("stdout"), request("stderr")], 0, never),
    room.read([request("messages")], 0, never),
  ]);
  expect(calls).toEqual([3]);
  expect(first.map((one) => new TextDecoder().decode(one.bytes))).toEqual(["stdout0", "stderr1"]);
  expect(second.map((one) => new TextDecoder().decode(one.bytes))).toEqual(["messages2"]);
});

test("a request that is due later does not hold one back that is due now", async () => {
  const order: string[] = [];
  const room = roomWith((requests) => Promise.resolve(requests.map(() => chunkOf(""))));
  const never = new AbortController().signal;
  await Promise.all([
    room.read([request("stdout")], 60, never).then(() => order.push("later")),
    room.read([request("stdout")], 0, never).then(() => order.push("now")),
  ]);
  expect(order).toEqual(["now", "later"]);
});

test("an aborted request is rejected at once and never read", async () => {
  let reads = 0;
  const room = roomWith((requests) => {
    reads += 1;
    return Promise.resolve(requests.map(() => chunkOf("")));
  });
  const stop = new AbortController();
  const read = room.read([request("stdout")], 60_000, stop.signal);
  stop.abort(new Error("stopping"));
  await expect(read).rejects.toThrow("stopping");
  expect(reads).toBe(0);
});

test("a fault of the target rejects every request of that call and none of the next", async () => {
  let faulty = true;
  const room = roomWith((requests) =>
    faulty
      ? Promise.reject(new Error("stale file handle"))
      : Promise.resolve(requests.map(() => chunkOf("x"))),
  );
  const never = new AbortController().signal;
  const results = await Promise.allSettled([
    room.read([request("stdout")], 0, never),
    room.read([request("stderr")], 0, never),
  ]);
  expect(results.map((one) => one.status)).toEqual(["rejected", "rejected"]);
  faulty = false;
  expect(await room.read([request("stdout")], 0, never)).toHaveLength(1);
});

test("hundreds of requests are served in calls of at most 256 followers", async () => {
  const calls: number[] = [];
  const room = roomWith((requests) => {
    calls.push(requests.length);
    return Promise.resolve(requests.map(() => chunkOf("")));
  });
  const never = () => new AbortController().signal;
  await Promise.all(Array.from({ length: 600 }, () => room.read([request("stdout")], 0, never())));
  expect(calls.reduce((sum, one) => sum + one, 0)).toBe(600);
  expect(Math.max(...calls)).toBeLessThanOrEqual(256);
});

test("a signal that outlives its reads keeps no listener of theirs", async () => {
  const room = roomWith((requests) => Promise.resolve(requests.map(() => chunkOf(""))));
  const stop = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  stop.signal.addEventListener = function add(
    this: AbortSignal,
    ...rest: Parameters<AbortSignal["addEventListener"]>
  ) {
    listeners += 1;
    addEventListener.apply(this, rest);
  };
  stop.signal.removeEventListener = function remove(
    this: AbortSignal,
    ...rest: Parameters<AbortSignal["addEventListener"]>
  ) {
    listeners -= 1;
    removeEventListener.apply(this, rest);
  };
  for (let round = 0; round < 5; round += 1) await room.read([request("stdout")], 0, stop.signal);
  expect(listeners).toBe(0);
});
