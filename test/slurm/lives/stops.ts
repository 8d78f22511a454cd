import { expect, test } from "vitest";
import type { SteerAction, SteerAnswer } from "../../../src/domain/adapter.ts";
import { eventually } from "../../support/eventually.ts";
import { NEVER } from "../../support/jobs.ts";
import { AWAY, type Life, type Lives, livesTool, PATIENCE_MS } from "../../support/slurm/lives.ts";
import { queueView } from "../../support/slurm/queue.ts";

const LIMIT_MS = 240_000;
const LATER = { options: { extra: [...AWAY.options.extra, "--begin=now+1hour"] } };
const SHORT = {
  options: { ...AWAY.options, partition: "short" },
  resources: { cpus: 1, memoryMib: null, walltimeSeconds: 60, gpus: 0 },
};

export const STOP_TOOLS = [
  livesTool("patient", "gate on", AWAY),
  livesTool("later", "gate on", LATER),
  livesTool("graceful", "trap 'echo bye; exit 0' TERM\ntouch \"$dir/up\"\nwhile :; do sleep 0.1; done", AWAY),
  // The wrapper gives what the script left behind two seconds: the job lives on, and its script is over.
  livesTool("leaving", 'sleep 60 &\ntouch "$dir/over"\nexit 0', AWAY),
  livesTool("endless", "while :; do sleep 0.5; done", SHORT),
  livesTool("endless_graceful", "trap 'exit 0' TERM\nwhile :; do sleep 0.5; done", SHORT),
];

/** Held, paused, stopped, out of time. */
export function testStops(get: () => Lives): void {
  const queue = () => queueView(get().cluster);
  const steer = async (life: Life, action: SteerAction): Promise<SteerAnswer> => {
    const adapter = get().world.adapters.get("cluster");
    if (adapter === undefined) throw new Error("there is no target called cluster");
    return adapter.steer(await life.job(), action, NEVER);
  };

  test(
    "a waiting job is held and released through us, and runs when it may",
    async () => {
      const life = await get().start("later");
      const { id } = await life.job();
      await life.reaches({ phase: "queued" });
      expect((await steer(life, "suspend")).kind).toBe("refused");
      expect(await steer(life, "hold")).toEqual({ kind: "done" });
      const held = await life.reaches({ phase: "held", life: 0 });
      expect(held.reason).toMatch(/release/);
      expect(await steer(life, "release")).toEqual({ kind: "done" });
      await life.reaches({ phase: "queued", life: 0 });
      await queue().startNow(id);
      await life.begins(1);
      expect(await steer(life, "hold")).toMatchObject({ kind: "refused", reason: /RUNNING/ });
      life.let();
      expect(await life.outcome()).toMatchObject({ kind: "succeeded", requeues: 0 });
      const types = (await life.events()).map(({ type }) => type);
      expect(types.filter((type) => /^job\.(held|started|requeued)$/.test(type))).toEqual([
        "job.held",
        "job.started",
      ]);
    },
    LIMIT_MS,
  );

  test(
    "a running job is suspended and resumed, and stopped and continued by signals, in one life",
    async () => {
      const life = await get().start("patient");
      const { id } = await life.job();
      await life.begins(1);
      await life.reaches({ phase: "running" });
      expect(await steer(life, "suspend")).toEqual({ kind: "done" });
      await life.reaches({ phase: "suspended" });
      expect(await steer(life, "resume")).toEqual({ kind: "done" });
      await life.reaches({ phase: "running" });
      await get().cluster.run(["scancel", "--signal=STOP", id]);
      expect((await life.reaches({ phase: "suspended" })).reason).toMatch(/signal/);
      await get().cluster.run(["scancel", "--signal=CONT", id]);
      await life.reaches({ phase: "running", life: 0 });
      life.let();
      expect(await life.outcome()).toMatchObject({ kind: "succeeded", requeues: 0 });
      const types = (await life.events()).map(({ type }) => type);
      const told = types.filter((type) => /^job\.(started|suspended|resumed|requeued)$/.test(type));
      expect(told).toEqual(["job.started", ...Array(2).fill(["job.suspended", "job.resumed"]).flat()]);
    },
    LIMIT_MS,
  );

  test.each([
    ["running", "patient", 1],
    ["waiting", "later", 0],
    ["held", "later", 0],
  ])(
    "a %s job that is cancelled ends as cancelled",
    async (how, tool, starts) => {
      const life = await get().start(tool);
      const { id } = await life.job();
      if (starts > 0) await life.begins(starts);
      if (how === "held") {
        expect(await steer(life, "hold")).toEqual({ kind: "done" });
        await life.reaches({ phase: "held" });
      }
      await life.cancel();
      expect(await life.outcome()).toMatchObject({ kind: "cancelled", ok: false });
      expect(await queue().state(id)).toBe("CANCELLED");
      expect(life.starts()).toHaveLength(starts);
    },
    LIMIT_MS,
  );

  test(
    "a script that exits 0 at the stop's TERM was cancelled; one that was over before it was not",
    async () => {
      const [graceful, leaving] = await Promise.all([get().start("graceful"), get().start("leaving")]);
      await Promise.all([
        eventually(() => expect(graceful.has("up")).toBe(true), PATIENCE_MS).then(() => graceful.cancel()),
        eventually(() => expect(leaving.has("over")).toBe(true), PATIENCE_MS).then(() => leaving.cancel()),
      ]);
      expect(await graceful.outcome()).toMatchObject({ kind: "cancelled", exitCode: 0 });
      expect(await graceful.readFile("stdout")).toBe("bye\n");
      const outcome = await leaving.outcome();
      // This cluster kills two seconds after TERM. On a busy machine that may come before the record, and then Slurm's
      // word is all there is.
      const isRecorded = (await leaving.readFile("exit.0.json")).trim() !== "";
      expect(outcome).toMatchObject(isRecorded ? { kind: "succeeded", exitCode: 0 } : { kind: "cancelled" });
    },
    LIMIT_MS,
  );

  test.each(["endless", "endless_graceful"])(
    "a job that runs into its walltime timed out, whatever its script makes of the TERM: %s",
    async (tool) => {
      const life = await get().start(tool);
      const { kind, verdict } = await life.outcome(200_000);
      expect([kind, verdict]).toEqual(["timeout", "stopped"]);
      expect((await life.record()).end?.termAtMs).not.toBeNull();
    },
    LIMIT_MS,
  );
}
