import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type Life, type Lives, livesTool, PATIENCE_MS, startLives } from "../support/slurm/lives.ts";
import { queueView } from "../support/slurm/queue.ts";
import { EXITS, UNRECORDED } from "./lives/exits.ts";

const LIMIT_MS = 180_000;

let lives: Lives;
beforeAll(async () => {
  lives = await startLives({
    tools: [
      ...EXITS.map(([name, lines]) => livesTool(name, `gate on\n${lines}`)),
      livesTool("unrecorded", `gate on\n${UNRECORDED}`),
      livesTool("patient", "gate on"),
      livesTool("later", "gate on", { options: { extra: ["--begin=now+1hour"] } }),
    ],
    tuning: { lostAfterMs: 3_000, lostLooks: 3 },
  });
});
afterAll(() => lives.stop());

/** Restarts nothing: what the controller is to do differently is read by it anew. */
async function withMinJobAge(seconds: number, work: () => Promise<void>): Promise<void> {
  const { conf } = lives.cluster;
  const before = readFileSync(conf, "utf8");
  try {
    writeFileSync(conf, before.replace(/^MinJobAge=\d+$/m, `MinJobAge=${seconds}`));
    await lives.cluster.run(["scontrol", "reconfigure"]);
    await work();
  } finally {
    writeFileSync(conf, before);
    await lives.cluster.run(["scontrol", "reconfigure"]);
  }
}

test(
  "jobs that ended and were forgotten by the controller while nobody looked are told by accounting or their own record",
  async () => {
    const names = [...EXITS.map(([name]) => name), "unrecorded"];
    const all = await Promise.all(names.map((name) => lives.start(name)));
    const unrecorded = all.at(-1);
    if (unrecorded === undefined) throw new Error("there is a last one");
    const ids = await Promise.all(all.map(async (life) => (await life.job()).id));
    await Promise.all(all.map((life) => life.reaches({ phase: "running" })));
    await Promise.all(all.map((life) => life.begins(1)));
    await lives.world.stopWorkers();
    await withMinJobAge(5, async () => {
      for (const life of all) life.let();
      for (const id of ids) await queueView(lives.cluster).becomes(id, /^$/);
    });
    await lives.world.startWorkers();
    const outcomes = await Promise.all(all.slice(0, -1).map((life) => life.outcome()));
    expect(outcomes).toMatchObject(EXITS.map(([, , outcome]) => ({ ...outcome, requeues: 0 })));
    const witnesses = await Promise.all(
      all.slice(0, -1).map(async (life) => (await life.record()).end?.witness),
    );
    expect(new Set(witnesses)).toEqual(new Set(["exit_record"]));
    if (lives.cluster.hasAccounting) {
      // Its log is waited for a minute longer; how it ended is known now.
      const { end } = await unrecorded.reaches({ phase: "collecting" });
      expect(end).toMatchObject({ kind: "signalled", signal: 9, exitCode: null, witness: "accounting" });
    } else expect(await unrecorded.outcome()).toMatchObject({ kind: "lost", ok: false, exitCode: null });
  },
  LIMIT_MS,
);

/** Runs while the controller is dead; it comes back with what it knew before `lost` was done. */
async function throughCrash<T>(lost: () => Promise<T>, meanwhile: (made: T) => Promise<void>): Promise<T> {
  const { cluster } = lives;
  const state = join(cluster.base, "state");
  const kept = join(cluster.base, "state.kept");
  await cluster.kill("slurmctld");
  cpSync(state, kept, { recursive: true, preserveTimestamps: true });
  await cluster.start("slurmctld");
  try {
    const made = await lost();
    await cluster.kill("slurmctld");
    rmSync(state, { recursive: true });
    cpSync(kept, state, { recursive: true, preserveTimestamps: true });
    await cluster.run(["chown", "-R", "slurm:", state]);
    await meanwhile(made);
    return made;
  } finally {
    rmSync(kept, { recursive: true, force: true });
    await cluster.start("slurmctld");
  }
}

test(
  "a controller that crashes: a cancel is asked again until it is heard, and an id that it gives out anew is not ours",
  async () => {
    const { cluster } = lives;
    const patient = await lives.start("patient");
    await patient.begins(1);
    await patient.reaches({ phase: "running" });
    // The controller writes its state down within five seconds.
    await eventually(async () => {
      const saved = readFileSync(join(cluster.base, "state", "job_state"));
      expect(saved.includes((await patient.record()).mark)).toBe(true);
    }, PATIENCE_MS);
    const [forgotten, cancelled] = await throughCrash(
      async (): Promise<[Life, Life]> => {
        const made: [Life, Life] = [await lives.start("later"), await lives.start("later")];
        for (const life of made) await life.job();
        return made;
      },
      async ([, second]) => {
        await Promise.all([patient.cancel(), second.cancel()]);
        const { result } = await lives.world.call("tasks/get", { taskId: patient.taskId });
        expect(result).toMatchObject({
          status: "working",
          statusMessage: expect.stringMatching(/^cancelling/),
        });
      },
    );
    const ours = [(await forgotten.job()).id, (await cancelled.job()).id];
    const argv = ["sbatch", "--parsable", "--job-name=somebody", "--output=/dev/null"] as const;
    const script = "#!/bin/sh\nexec sleep 300\n";
    const others = [
      (await cluster.run(argv, { input: script })).trim(),
      (await cluster.run(argv, { input: script })).trim(),
    ];
    expect(others.toSorted()).toEqual(ours.toSorted());
    expect(await forgotten.outcome()).toMatchObject({ kind: "lost" });
    expect(await cancelled.outcome()).toMatchObject({ kind: "cancelled" });
    expect(await patient.outcome()).toMatchObject({ kind: "cancelled" });
    for (const id of others) expect(await queueView(cluster).state(id)).toBe("RUNNING");
    for (const life of [forgotten, cancelled]) {
      expect(life.starts()).toEqual([]);
      const types = (await life.events()).map(({ type }) => type);
      expect(types).not.toContain("job.started");
    }
  },
  LIMIT_MS,
);
