import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { clusterFromEnv } from "../support/slurm/cluster.ts";
import { slurmDirectory } from "../support/slurm/harness.ts";
import { createTask, eventOf, followEvents, readAgain, resultOf, seqOf } from "../support/stubborn-client.ts";
import { startTopology, type Topology } from "../support/topology.ts";

const STEPS = 40;
/**
 * Everything is killed when the reader has `residuals` of them. The job waits before its step `gate` until that has
 * happened, and goes four steps further before anything is started again.
 */
const KILLS = [
  { residuals: 6, gate: 14 },
  { residuals: 20, gate: 28 },
];
const AWAY_STEPS = 4;

const SCRIPT = `#!/bin/sh
echo "$TAILRACE_ARG_RUN $SLURM_JOB_ID" >> "$STARTS"
step=0
while [ "$step" -lt ${STEPS} ]; do
  step=$((step + 1))
  case $step in
    ${KILLS.map(({ gate }) => gate).join(" | ")}) until [ -e "$STARTS.gate.$step" ]; do sleep 0.05; done ;;
  esac
  echo "Time = $step"
  echo "DICPCG:  Solving for p, Initial residual = 0.5, Final residual = 1e-07, No Iterations $step"
  echo "$step" > "$STARTS.step"
  sleep 0.25
done
echo "${STEPS} steps" > field.dat
exit 3
`;

const cluster = clusterFromEnv();
const directory = slurmDirectory();
let topology: Topology;
const url = () => topology.server.url();

beforeAll(async () => {
  const workdir = join(directory.workdir, "cluster");
  mkdirSync(workdir);
  topology = await startTopology({
    targets: { cluster: { scheduler: "slurm", workdir, slurmConf: cluster.conf, pollSeconds: 1 } },
    tools: {
      job: {
        target: "cluster",
        input: { run: { type: "string" } },
        run: { script: SCRIPT },
        solver: "openfoam",
        outputs: ["*.dat"],
        idempotency: "required",
        resources: { walltime: "2m" },
        options: { requeue: false },
      },
    },
    tuning: { submitTimeoutMs: 6_000 },
  });
}, 60_000);

afterAll(async () => {
  await topology?.stop();
  await cluster.tryRun(["scancel", "--user=root"]);
  directory.remove();
}, 60_000);

test("kill -9 of every process and of Redis, twice while a batch job runs: its stream has every residual once, in order", {
  timeout: 120_000,
}, async () => {
  const run = randomBytes(6).toString("hex");
  const { taskId } = await createTask(url, "job", { run, idempotencyKey: run });
  const reader = followEvents(url, String(taskId));
  for (const { residuals, gate } of KILLS) {
    await eventually(() => {
      const count = iterationsIn(reader.texts).length;
      if (count < residuals) throw new Error(`${count} of ${residuals} residuals\n${topology.logs()}`);
    }, 20_000);
    await topology.killAll();
    expect(stepOfJob()).toBeLessThan(gate);
    writeFileSync(`${topology.startsFile}.gate.${gate}`, "");
    await eventually(() => expect(stepOfJob()).toBeGreaterThanOrEqual(gate + AWAY_STEPS));
    await topology.startAll();
  }
  await reader.done;

  const wanted = Array.from({ length: STEPS }, (_, index) => index + 1);
  expect(iterationsIn(reader.texts)).toEqual(wanted);
  expect(reader.texts.map(seqOf)).toEqual(reader.texts.map((_, index) => index));
  expect(await readAgain(url, String(taskId))).toEqual(reader.texts);
  expect(reader.breaks()).toBeGreaterThanOrEqual(KILLS.length);
  const starts = readFileSync(topology.startsFile, "utf8").trim().split("\n");
  expect(starts).toHaveLength(1);
  const [submitted, ended] = ["job.submitted", "task.ended"].map((type) =>
    reader.texts.map(eventOf).filter((event) => event.type === type),
  );
  expect(submitted?.map(({ payload }) => `${run} ${String(payload["jobId"])}`)).toEqual(starts);
  expect(ended).toHaveLength(1);

  const doc = await resultOf(url, "tasks/get", { taskId: String(taskId) });
  const sha256 = createHash("sha256").update(`${STEPS} steps\n`).digest("hex");
  expect(doc).toMatchObject({
    status: "completed",
    result: {
      isError: true,
      structuredContent: {
        outcome: { kind: "failed", exitCode: 3, requeues: 0 },
        artifacts: [{ name: "field.dat", sha256 }],
      },
    },
  });
});

function stepOfJob(): number {
  return Number(readFileSync(`${topology.startsFile}.step`, "utf8"));
}

/** The numbers of iterations that the residuals tell, which are the numbers of the job's steps. */
function iterationsIn(texts: readonly string[]): unknown[] {
  return texts
    .map(eventOf)
    .filter(({ type }) => type === "solver.residual")
    .map(({ payload }) => payload["iterations"]);
}
