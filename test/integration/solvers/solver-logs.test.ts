import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/domain/json.ts";
import { eventually } from "../../support/eventually.ts";
import { type StreamEvent, scriptTool, startWorld, type World } from "../../support/world.ts";

let world: World;

const CAVITY = new URL("../../fixtures/logs/openfoam/cavity_plain.log", import.meta.url).pathname;

/** Noise that a log may hold: a very long line, NUL bytes, a character cut in two. */
const GARBAGE = `head -c 300000 /dev/zero | tr '\\0' x; echo
printf 'a\\000b\\n\\303'; sleep 0.2; printf '\\251 done\\n'`;

beforeAll(async () => {
  world = await startWorld({
    tools: [
      scriptTool("fast", `cat ${CAVITY}`, { solver: "openfoam" }),
      scriptTool(
        "slow",
        `while IFS= read -r line; do printf '%s\\n' "$line"; n=$((n+1)); [ $((n % 15)) -eq 0 ] && sleep 0.1; done < ${CAVITY}; true`,
        {
          solver: "openfoam",
          progress: { total: 0.5, unit: "s" },
        },
      ),
      scriptTool("garbage", `${GARBAGE}; cat ${CAVITY}`, { solver: "openfoam" }),
      scriptTool("torrent", `for n in $(seq 1 60); do cat ${CAVITY}; sleep 0.05; done`, {
        solver: "openfoam",
      }),
    ],
  });
});
afterAll(() => world.stop());

function payloads(events: readonly StreamEvent[], type: string): JsonObject[] {
  return events.filter((event) => event.type === `dev.tailrace.${type}`).map(({ payload }) => payload);
}

function fieldOf(payload: JsonObject, ...names: string[]): Json | undefined {
  return names.reduce<Json | undefined>(
    (value, name) => (typeof value === "object" && value !== null ? (value as JsonObject)[name] : undefined),
    payload,
  );
}

async function metricsOf(taskId: string, query = "") {
  const { result, error } = await world.call("resources/read", {
    uri: `tailrace://task/${taskId}/metrics${query}`,
  });
  if (error !== undefined) throw new Error(JSON.stringify(error));
  const [content] = result["contents"] as { text: string }[];
  return JSON.parse(content?.text ?? "") as JsonObject & {
    history: { residuals: { field: string; corrector: number; rows: number[][] }[] };
  };
}

test("a solver's log becomes residuals in order, then what it came to, and then the task ends", async () => {
  const taskId = await world.start("fast");
  const task = await world.ended(taskId);
  const events = await world.events(taskId);
  const steps = payloads(events, "solver.residual")
    .filter((payload) => payload["field"] === "p" && payload["corrector"] === 0)
    .map((payload) => Number(payload["step"]));
  expect(steps).toEqual([...steps].sort((a, b) => a - b));
  expect(steps.length).toBeGreaterThan(80);
  expect(payloads(events, "solver.started")).toHaveLength(1);
  const types = events.map(({ type }) => type.replace("dev.tailrace.", ""));
  expect(types.slice(-2)[0]).toMatch(/^artifact\.created|^solver\.finished/);
  expect(types.at(-1)).toBe("task.ended");
  const [finished] = payloads(events, "solver.finished");
  expect(finished).toMatchObject({
    solver: "openfoam",
    endState: "finished",
    steps: 100,
    finalTime: 0.5,
    exitCode: 0,
  });
  expect(task["result"]).toMatchObject({ structuredContent: { outcome: { verdict: "finished" } } });
});

test("while it runs, the message names step, time and residuals, and then an estimate", async () => {
  const taskId = await world.start("slow");
  await eventually(async () => {
    const { result } = await world.call("tasks/get", { taskId });
    expect(result["statusMessage"]).toMatch(
      /step \d+ · 0\.\d+ of 0\.5 s · p \d\.\de-\d+, Ux \d\.\de-\d+, Uy .* ETA \d+/,
    );
  }, 15_000);
  const live = await metricsOf(taskId);
  expect(live).toMatchObject({
    ended: false,
    progress: { total: 0.5, unit: "s" },
    history: { complete: false },
  });
  await world.ended(taskId);
});

test("the metrics resource has every step of every residual, and nobody else may read it", async () => {
  const taskId = await world.start("fast");
  await world.ended(taskId);
  const metrics = await metricsOf(taskId);
  expect(metrics).toMatchObject({ ended: true, history: { complete: true, stride: 1, timeUnit: "s" } });
  const log = readFileSync(CAVITY, "utf8");
  const inLog = [...log.matchAll(/Solving for Ux, Initial residual = (\S+),/g)].map((match) =>
    Number(match[1]),
  );
  const ux = metrics.history.residuals.find(({ field }) => field === "Ux");
  expect(ux?.rows.map((row) => row[2])).toEqual(inLog);
  const only = await metricsOf(taskId, "?only=p");
  expect(new Set(only.history.residuals.map(({ field }) => field))).toEqual(new Set(["p"]));
  const uri = `tailrace://task/${taskId}/metrics`;
  const { error } = await world.call("resources/read", { uri }, { who: "bob" });
  expect(error).toMatchObject({ message: "There is no such resource." });
});

test("long lines, NUL bytes and torn characters cost no residual after them", async () => {
  const taskId = await world.start("garbage");
  await world.ended(taskId);
  const events = await world.events(taskId);
  expect(payloads(events, "solver.finished")[0]).toMatchObject({ steps: 100, endState: "finished" });
});

test("a torrent of lines stays within the budget, and its restarts are all told", async () => {
  const taskId = await world.start("torrent");
  await world.ended(taskId, 60_000);
  const events = await world.events(taskId);
  expect(events.length).toBeLessThan(5_000);
  const [finished] = payloads(events, "solver.finished");
  expect(fieldOf(finished ?? {}, "segments")).toBe(60);
  expect(payloads(events, "solver.restarted").reduce((sum, one) => sum + Number(one["count"] ?? 1), 0)).toBe(
    59,
  );
});
