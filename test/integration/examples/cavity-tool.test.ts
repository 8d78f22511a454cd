import { readFileSync } from "node:fs";
import { join } from "node:path";
import { globSync } from "tinyglobby";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadSettings } from "../../../src/config/load.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { EXAMPLE } from "../../support/cavity.ts";
import { eventually } from "../../support/eventually.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;

beforeAll(async () => {
  const loaded = await loadSettings({ path: join(EXAMPLE, "tailrace.yaml"), env: process.env, cwd: "/" });
  if (loaded.kind === "problems") throw new Error(JSON.stringify(loaded.problems));
  expect(loaded.warnings).toEqual([]);
  world = await startWorld({ tools: loaded.settings.tools });
});
afterAll(() => world.stop());

test("the example's tool runs the case, and its summary and files are the task's result", async () => {
  const args = { reynolds: 100, grid: 16, idempotencyKey: "cavity-1" };
  const task = await world.ended(await world.start("run_cfd_case", args));
  expect(task).toMatchObject({ status: "completed", result: { isError: false } });
  const { structuredContent } = task["result"] as { structuredContent: JsonObject };
  expect(structuredContent["result"]).toMatchObject({ reynolds: 100, grid: 16, converged: true });
  const artifacts = structuredContent["artifacts"] as { name: string }[];
  expect(artifacts.map(({ name }) => name).sort()).toEqual([
    "centreline_u.csv",
    "centreline_v.csv",
    "checkpoint.json",
    "fields/U.csv",
    "fields/p.csv",
    "result.json",
  ]);
});

test("a cancelled case is cancelled, and what it had written by then is kept", async () => {
  const args = { reynolds: 5000, endTime: 1000, grid: 16, idempotencyKey: "cavity-2" };
  const taskId = await world.start("run_cfd_case", args);
  // Its first checkpoint: by then the solver is certain to hear a stop.
  await eventually(() => {
    const checkpoints = globSync("**/work/checkpoint.json", { cwd: world.dir, absolute: true, dot: true });
    if (!checkpoints.some((path) => readFileSync(path, "utf8").includes('"reynolds":5000')))
      throw new Error(`no checkpoint yet: ${checkpoints}`);
  }, 20_000);
  await world.call("tasks/cancel", { taskId });
  expect(await world.ended(taskId)).toMatchObject({ status: "cancelled" });
  const events = await world.events(taskId);
  const created = events.filter(({ type }) => type.endsWith("artifact.created"));
  // Written at the end only.
  expect(JSON.stringify(created)).toContain("result.json");
});
