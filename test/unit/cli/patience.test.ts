import fc from "fast-check";
import { expect, test } from "vitest";
import { NoServer, Refused, Unreachable } from "../../../src/cli/client/faults.ts";
import { backoffMs, createPatience, type PatienceOptions } from "../../../src/cli/client/patience.ts";
import { EXIT } from "../../../src/cli/exit-codes.ts";

const away = () => Promise.reject(new Unreachable("ECONNREFUSED"));

function patienceOf(options: Partial<PatienceOptions>) {
  const waits: number[] = [];
  const patience = createPatience({
    patienceMs: 1000,
    signal: new AbortController().signal,
    onWait: (_, inMs) => void waits.push(inMs),
    random: () => 0,
    ...options,
  });
  return { patience, waits };
}

test("waits double from half a second to ten seconds, and at least half of each is certain", () => {
  expect([0, 1, 2, 3, 4, 5, 50].map((tries) => backoffMs(tries, () => 1))).toEqual([
    500, 1000, 2000, 4000, 8000, 10_000, 10_000,
  ]);
  fc.assert(
    fc.property(fc.nat(100), fc.double({ min: 0, max: 1, noNaN: true }), (tries, chance) => {
      const full = backoffMs(tries, () => 1);
      const wait = backoffMs(tries, () => chance);
      expect(wait).toBeGreaterThanOrEqual(full / 2);
      expect(wait).toBeLessThanOrEqual(full);
    }),
  );
});

test("work that fails for want of a server is done again until it succeeds", async () => {
  const { patience, waits } = patienceOf({ patienceMs: 60_000 });
  let tries = 0;
  const done = await patience.insist(async () => {
    tries += 1;
    if (tries < 2) throw new Unreachable("no");
    return "done";
  });
  expect([done, waits]).toEqual(["done", [250]]);
});

test("patience ends after its time without any success, with the code for an unreachable server", async () => {
  let nowMs = 0;
  const onWait = () => {
    nowMs += 60;
  };
  const { patience } = patienceOf({ patienceMs: 100, clock: () => nowMs, onWait });
  await expect(patience.insist(away)).rejects.toMatchObject({
    exitCode: EXIT.unreachable,
    message: expect.stringContaining("ECONNREFUSED"),
  });
});

test("a success counts the time anew", async () => {
  let nowMs = 0;
  const { patience } = patienceOf({ patienceMs: 50, clock: () => nowMs });
  await patience.wait(new Unreachable("no"));
  nowMs += 1000;
  patience.renew();
  await patience.wait(new Unreachable("no"));
  nowMs += 1000;
  await expect(patience.wait(new Unreachable("no"))).rejects.toMatchObject({ exitCode: EXIT.unreachable });
});

test("a refusal and a hopeless fault are thrown as they are, at once", async () => {
  const { patience, waits } = patienceOf({ isHopeless: (fault) => fault instanceof NoServer });
  const refused = new Refused("no such tool", -32602);
  await expect(patience.insist(() => Promise.reject(refused))).rejects.toBe(refused);
  const nobody = new NoServer("nobody");
  await expect(patience.insist(() => Promise.reject(nobody))).rejects.toBe(nobody);
  expect(waits).toEqual([]);
});

test("an abort ends the waiting at once", async () => {
  const stopping = new AbortController();
  const { patience } = patienceOf({
    patienceMs: 600_000,
    signal: stopping.signal,
    random: () => 1,
    onWait: () => queueMicrotask(() => stopping.abort()),
  });
  await expect(patience.insist(away)).rejects.toMatchObject({ name: "AbortError" });
});
