import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/json.ts";
import { eventually } from "../../support/eventually.ts";
import { AWAY, type Lives, livesTool } from "../../support/slurm/lives.ts";
import { queueView } from "../../support/slurm/queue.ts";

const CAVITY = new URL("../../fixtures/logs/openfoam/cavity_plain.log", import.meta.url).pathname;
/** Ends in the middle of a line, as the log of a job that is killed does. */
const CUT_AT = readFileSync(CAVITY, "utf8").indexOf("Initial residual", 20_000);

export const REQUEUE_TOOLS = [
  livesTool("gated", 'echo "life $life"\ngate "$life"\necho "over $life"\necho "$life" > out.txt', AWAY),
  livesTool(
    "solver",
    `if [ "$life" = 0 ]; then head -c ${CUT_AT} ${CAVITY}; else cat ${CAVITY}; fi\ngate "$life"`,
    { ...AWAY, solver: "openfoam" },
  ),
  // Without an exit record the log is waited for, since a shared file system may be late: a minute of collecting.
  livesTool("torn", '[ "$life" != 0 ] || { gate 0; kill -9 $PPID; }\ngate 1', AWAY),
];

const LIMIT_MS = 150_000;

/** Requeues by an administrator, at every moment of a task's life. */
export function testRequeues(get: () => Lives): void {
  const queue = () => queueView(get().cluster);

  test(
    "requeued while it runs: working again under the same id, and the log goes on in a new segment",
    async () => {
      const life = await get().start("solver");
      const { id } = await life.job();
      await life.reaches({ phase: "running" });
      await eventually(
        async () => expect((await residuals(get(), life.taskId)).length).toBeGreaterThan(0),
        30_000,
      );
      await queue().requeue(id);
      await life.reaches({ phase: "queued", life: 1 });
      await queue().startNow(id);
      await life.reaches({ phase: "running", life: 1 });
      life.let(1);
      const outcome = await life.outcome();
      expect(outcome).toMatchObject({ kind: "succeeded", exitCode: 0, requeues: 1, verdict: "finished" });
      expect(life.starts()).toEqual(["0", "1"]);
      expect((await life.record()).job?.id).toBe(id);
      const events = await life.events();
      const types = events.map(({ type }) => type);
      expect(types.filter((type) => /^job\.(requeued|started|ended)|^task\.ended/.test(type))).toEqual([
        "job.started",
        "job.requeued",
        "job.started",
        "job.ended",
        "task.ended",
      ]);
      expect(types.at(-1)).toBe("task.ended");
      expect(events.find(({ type }) => type === "solver.finished")?.payload).toMatchObject({ segments: 2 });
      const log = readFileSync(CAVITY, "utf8");
      expect(await residuals(get(), life.taskId)).toEqual([...inLog(log.slice(0, CUT_AT)), ...inLog(log)]);
      const files = await life.files();
      expect(files).toEqual(expect.arrayContaining(["exit.0.json", "exit.1.json", "life.1.json", "closed"]));
    },
    LIMIT_MS,
  );

  test(
    "requeued after it completed, before that counts: the second life is the one that is told",
    async () => {
      const life = await get().start("gated");
      const { id } = await life.job();
      await life.begins(1);
      life.let(0);
      await queue().becomes(id, /^COMPLETED$/);
      await eventually(async () => expect((await life.record()).sighting).not.toBeNull());
      await queue().requeue(id);
      await life.reaches({ phase: "queued", life: 1 });
      await queue().startNow(id);
      await life.reaches({ phase: "running", life: 1 });
      life.let(1);
      expect(await life.outcome()).toMatchObject({ kind: "succeeded", requeues: 1 });
      expect(life.starts()).toEqual(["0", "1"]);
      const types = (await life.events()).map(({ type }) => type);
      expect(types.filter((type) => type === "job.ended")).toHaveLength(1);
      expect(types.filter((type) => type === "job.requeued")).toHaveLength(1);
    },
    LIMIT_MS,
  );

  test(
    "requeued while its outputs are collected: nothing of the first life's end is told as the task's",
    async () => {
      const life = await get().start("torn");
      const { id } = await life.job();
      life.let(0);
      await life.reaches({ phase: "collecting" });
      await queue().requeue(id);
      await life.reaches({ phase: "queued", life: 1 });
      await queue().startNow(id);
      await life.reaches({ phase: "running", life: 1 });
      life.let(1);
      expect(await life.outcome()).toMatchObject({ kind: "succeeded", requeues: 1 });
      expect(life.starts()).toEqual(["0", "1"]);
      const types = (await life.events()).map(({ type }) => type);
      expect(types.filter((type) => type === "job.ended")).toHaveLength(2);
      expect(types.filter((type) => type === "task.ended")).toHaveLength(1);
    },
    LIMIT_MS,
  );

  test(
    "requeued after the task has ended: the job leaves again at once, and what it left stays as it was",
    async () => {
      const life = await get().start("gated");
      const { id } = await life.job();
      life.let();
      expect(await life.outcome()).toMatchObject({ kind: "succeeded", requeues: 0 });
      await eventually(async () => expect(await life.files()).toContain("closed"));
      const before = await get().world.call("tasks/get", { taskId: life.taskId });
      await queue().requeue(id);
      await queue().startNow(id);
      await queue().becomes(id, /^FAILED$/);
      expect(life.starts()).toEqual(["0"]);
      expect(await life.files()).not.toContain("life.1.json");
      expect(await life.readFile("slurm.out")).toContain("its script is not run again");
      expect(await life.readFile("stdout")).toBe("life 0\nover 0\n");
      const { mark } = await life.record();
      expect(readFileSync(join(get().workdir, mark, "work", "out.txt"), "utf8")).toBe("0\n");
      expect((await get().world.call("tasks/get", { taskId: life.taskId })).result).toEqual(before.result);
    },
    LIMIT_MS,
  );

  test(
    "requeued and held, then released: held meanwhile, and the next life runs",
    async () => {
      const life = await get().start("gated");
      const { id } = await life.job();
      await life.begins(1);
      await get().cluster.run(["scontrol", "requeuehold", id]);
      const held = await life.reaches({ phase: "held", life: 1 });
      expect(held.reason).toMatch(/release/);
      await get().cluster.run(["scontrol", "release", id]);
      await life.reaches({ phase: "queued", life: 1 });
      await queue().startNow(id);
      await life.reaches({ phase: "running", life: 1 });
      life.let(1);
      expect(await life.outcome()).toMatchObject({ kind: "succeeded", requeues: 1 });
      expect(life.starts()).toEqual(["0", "1"]);
    },
    LIMIT_MS,
  );

  test(
    "cancelled while it waits for its second life: cancelled, and that life never runs",
    async () => {
      const life = await get().start("gated");
      const { id } = await life.job();
      await life.begins(1);
      await queue().requeue(id);
      await life.reaches({ phase: "queued", life: 1 });
      await life.cancel();
      expect(await life.outcome()).toMatchObject({ kind: "cancelled", requeues: 1 });
      expect(life.starts()).toEqual(["0"]);
      expect(await queue().state(id)).toBe("CANCELLED");
    },
    LIMIT_MS,
  );
}

/** Initial residuals of Ux in the order in which the metrics resource has them. */
async function residuals(lives: Lives, taskId: string): Promise<number[]> {
  const uri = `tailrace://task/${taskId}/metrics`;
  const { result, error } = await lives.world.call("resources/read", { uri });
  if (error !== undefined) throw new Error(JSON.stringify(error));
  const [content] = result["contents"] as { text: string }[];
  const metrics = JSON.parse(content?.text ?? "") as JsonObject & {
    history: { residuals: { field: string; rows: number[][] }[] };
  };
  const series = metrics.history.residuals.filter(({ field }) => field === "Ux");
  return series.flatMap(({ rows }) => rows.map((row) => row[2] ?? Number.NaN));
}

function inLog(log: string): number[] {
  const whole = log.slice(0, log.lastIndexOf("\n") + 1);
  return [...whole.matchAll(/Solving for Ux, Initial residual = (\S+),/g)].map((match) => Number(match[1]));
}
