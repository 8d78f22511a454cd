import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import {
  type CrashReport,
  crashTool,
  expectedLog,
  faultsOf,
  killAndRestart,
  runTask,
  VICTIMS,
  type Victim,
} from "../support/crash-run.ts";
import { CRASH_PHASES, type CrashPhase } from "../support/moments.ts";
import { randomFrom } from "../support/random.ts";
import { resultOf } from "../support/stubborn-client.ts";
import { startTopology, type Topology } from "../support/topology.ts";

/** Kills that must hit their phase, per victim and phase. */
const KILLS = Number(process.env["TAILRACE_GRID_KILLS"] ?? 10);
const SEED = Number(process.env["TAILRACE_GRID_SEED"] ?? Date.now() % 1_000_000);
const LANES = 3;
/** The job prints for about 0.7 s. */
const LINES = 14;
/** Runs of a cell that may miss their phase, for each that hits it. */
const MISSES = 4;
const CELL_MS = 900_000;

type Lane = {
  readonly name: string;
  readonly topology: Topology;
  readonly reference: CrashReport;
  readonly lasted: Readonly<Record<CrashPhase, number>>;
  /** tasks/get of every task so far, as it was when it had ended. */
  readonly docs: Map<string, JsonObject>;
};

const lanes: Lane[] = [];
const idle: Lane[] = [];
const waiting: ((lane: Lane) => void)[] = [];
const table: string[] = [];
const startedAt = performance.now();

beforeAll(async () => {
  await Promise.all(
    Array.from({ length: LANES }, async (_, index) => {
      const lane = await openLane(`lane${index}`);
      lanes.push(lane);
      giveBack(lane);
    }),
  );
}, 120_000);

afterAll(async () => {
  for (const { topology } of lanes) await topology.stop();
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const lasted = lanes.map((lane) => JSON.stringify(lane.lasted, (_, ms) => round(ms))).join(" ");
  const lines = [
    `crash grid: seed ${SEED}, ${LANES} lanes, ${seconds} s`,
    `phases in ms: ${lasted}`,
    ...table,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}, 120_000);

describe.concurrent("kill -9", () => {
  for (const victim of VICTIMS) {
    for (const phase of CRASH_PHASES) {
      const title = `of the ${victim} while a task is ${phase} loses, repeats and changes nothing`;
      test(title, { timeout: CELL_MS }, () => fillCell(victim, phase));
    }
  }
});

test("every task reads after all those kills as it did when it had ended", { timeout: CELL_MS }, async () => {
  for (const { topology, docs } of lanes) {
    for (const [taskId, doc] of docs) {
      expect(await resultOf(() => topology.server.url(), "tasks/get", { taskId })).toEqual(doc);
    }
  }
});

async function fillCell(victim: Victim, phase: CrashPhase): Promise<void> {
  const random = randomFrom(SEED + 100 * VICTIMS.indexOf(victim) + 10 * CRASH_PHASES.indexOf(phase));
  let hits = 0;
  let breaks = 0;
  let spentMs = 0;
  const tries = KILLS * (1 + MISSES);
  let run = 0;
  for (; hits < KILLS && run < tries; run += 1) {
    const lane = await takeLane();
    const beganAt = performance.now();
    const name = `${victim}-${phase}-${run}`;
    const lingerMs = random() * 0.8 * lane.lasted[phase];
    try {
      const report = await crash(lane, { name, victim, phase, lingerMs });
      hits += report.isHit ? 1 : 0;
      breaks += report.breaks;
    } catch (error) {
      const where = `${name} on ${lane.name}, ${round(lingerMs)} ms into ${phase}, seed ${SEED}`;
      throw new Error(`${where}: ${String(error)}\n${lane.topology.logs()}`, { cause: error });
    } finally {
      spentMs += performance.now() - beganAt;
      giveBack(lane);
    }
  }
  const seconds = (spentMs / 1000 / run).toFixed(1);
  table.push(
    `${victim} × ${phase}: ${hits} hits in ${run} runs, ${breaks} stream breaks, ${seconds} s a run`,
  );
  expect(hits).toBe(KILLS);
}

type Crash = {
  readonly name: string;
  readonly victim: Victim;
  readonly phase: CrashPhase;
  readonly lingerMs: number;
};

async function crash(lane: Lane, { name, victim, phase, lingerMs }: Crash) {
  const { topology, reference, docs } = lane;
  const redisPid = await topology.redisPid();
  let isHit = false;
  const report = await runTask(topology, name, async (moments) => {
    isHit = await moments.within(phase, lingerMs);
    if (isHit) await killAndRestart(topology, victim, redisPid);
  });
  expect(faultsOf(report, reference)).toEqual([]);
  docs.set(report.taskId, report.doc);
  return { isHit, breaks: report.breaks };
}

async function openLane(name: string): Promise<Lane> {
  const topology = await startTopology({ tools: { job: crashTool(LINES) } });
  try {
    await runTask(topology, "warm-up", async () => undefined);
    let lasted: Lane["lasted"] = { submitting: 0, running: 0, collecting: 0 };
    const reference = await runTask(topology, "undisturbed", async (moments) => {
      lasted = await moments.durations();
    });
    expect(faultsOf(reference, reference)).toEqual([]);
    expect(reference.exitCode).toBe(3);
    expect(reference.log).toBe(expectedLog(LINES));
    expect(reference.breaks).toBe(0);
    expect(Object.keys(reference.artifacts)).toHaveLength(60);
    return { name, topology, reference, lasted, docs: new Map([[reference.taskId, reference.doc]]) };
  } catch (error) {
    const logs = topology.logs();
    await topology.stop();
    throw new Error(`${String(error)}\n${logs}`, { cause: error });
  }
}

function takeLane(): Promise<Lane> {
  const lane = idle.pop();
  return lane === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(lane);
}

function giveBack(lane: Lane): void {
  const next = waiting.shift();
  if (next === undefined) idle.push(lane);
  else next(lane);
}

function round(value: unknown): unknown {
  return typeof value === "number" ? Math.round(value) : value;
}
