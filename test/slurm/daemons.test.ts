import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { SchedulerAdapter } from "../../src/domain/adapter.ts";
import { submitted, until } from "../contract/scheduler-harness.ts";
import { eventually } from "../support/eventually.ts";
import { markOf, NEVER, scriptSpec } from "../support/jobs.ts";
import { clusterFromEnv, type Daemon } from "../support/slurm/cluster.ts";
import { openSlurm, slurmDirectory } from "../support/slurm/harness.ts";
import { writeProgram } from "../support/slurm/programs.ts";
import { type SlurmWorld, startSlurmWorld } from "../support/slurm/world.ts";
import { scriptTool } from "../support/world.ts";

const cluster = clusterFromEnv();
const QUERY_SECONDS = 1;

let world: SlurmWorld;
let adapter: SchedulerAdapter;
beforeAll(async () => {
  const gate = `"$STARTS/$TAILRACE_ARG_NAME"`;
  const directory = slurmDirectory();
  world = await startSlurmWorld({
    target: { queryTimeoutSeconds: QUERY_SECONDS, submitTimeoutSeconds: 15 },
    tools: [
      scriptTool(
        "gated",
        `#!/bin/sh\necho start >>${gate}.starts\nuntil test -e ${gate}.go; do sleep 0.1; done\nexit 3\n`,
        {
          inputSchema: { type: "object", properties: { name: { type: "string" } } },
          env: { STARTS: directory.path },
          options: { requeue: false },
        },
      ),
    ],
  });
  gates = directory;
  const found = world.adapters.get("cluster");
  if (found === undefined) throw new Error("no adapter");
  adapter = found;
});
let gates: ReturnType<typeof slurmDirectory>;
afterAll(async () => {
  await world.stop();
  gates.remove();
});

/** Whatever a test broke runs again after it. */
afterEach(async () => {
  const daemons: Daemon[] = [
    "munged",
    ...(cluster.hasAccounting ? (["slurmdbd"] as const) : []),
    "slurmctld",
  ];
  for (const name of daemons) {
    if (cluster.pidOf(name) !== null) await cluster.cont(name);
    await cluster.start(name);
  }
});

type Task = { readonly name: string; readonly id: string };

async function start(name: string): Promise<Task> {
  return { name, id: await world.start("gated", { name }) };
}

const open = ({ name }: Task) => writeFileSync(join(gates.path, `${name}.go`), "");
const starts = ({ name }: Task) => readFileSync(join(gates.path, `${name}.starts`), "utf8");

/** Running, and so saved that a controller which is killed now knows it again. */
async function settled(task: Task): Promise<void> {
  await world.says(task.id, /^running/, 20_000);
  const { mark } = await world.record(task.id);
  await eventually(() => {
    if (!readFileSync(join(cluster.base, "state/job_state")).includes(mark)) throw new Error("not saved yet");
  }, 15_000);
}

const FAULTS: readonly { what: string; daemon: Daemon; how: "stop" | "kill"; why: RegExp }[] = [
  {
    what: "a controller that hangs",
    daemon: "slurmctld",
    how: "stop",
    why: /squeue did not answer within 1 s/,
  },
  {
    what: "a controller that was killed",
    daemon: "slurmctld",
    how: "kill",
    why: /squeue did not answer within 1 s/,
  },
  { what: "a munged that was killed", daemon: "munged", how: "kill", why: /squeue / },
];

test.each(FAULTS)(
  "$what ends no task, and loses none",
  async ({ what, daemon, how, why }) => {
    const ending = await start(`ending-${how}-${daemon}`);
    const lasting = await start(`lasting-${how}-${daemon}`);
    await Promise.all([settled(ending), settled(lasting)]);
    await cluster[how](daemon);
    const calls = () => adapter.usage().total["squeue"] ?? 0;
    const before = { calls: calls(), atMs: Date.now() };
    const coming = await start(`coming-${how}-${daemon}`);
    open(ending);
    const told = new RegExp(`^running .* · cluster cannot tell about the job just now \\(.*${why.source}`);
    for (const { id } of [ending, lasting]) await world.says(id, told, 15_000);
    await world.says(coming.id, /^being submitted to cluster/);
    await eventually(() => expect(adapter.limits.minObserveIntervalMs).toBeGreaterThan(2_000));
    // Once a second while all is well.
    const seconds = (Date.now() - before.atMs) / 1000;
    expect(calls() - before.calls, what).toBeLessThanOrEqual(Math.max(3, seconds * 0.6));
    await (how === "stop" ? cluster.cont(daemon) : cluster.start(daemon));
    await world.says(lasting.id, /^running [^·]*$/, 30_000);
    for (const task of [lasting, coming]) open(task);
    for (const task of [ending, lasting, coming]) {
      const { outcome } = await world.outcome(task.id, 60_000);
      expect(outcome).toMatchObject({ kind: "failed", exitCode: 3, requeues: 0 });
      expect(starts(task)).toBe("start\n");
      const types = (await world.events(task.id)).map(({ type }) => type);
      expect(types.filter((type) => type.endsWith("task.ended"))).toHaveLength(1);
      expect(types.at(-1)).toMatch(/task\.ended$/);
    }
  },
  120_000,
);

test("a slurm.conf that is not there is noticed within our own deadline, and nothing is left", async () => {
  const lost = openSlurm(world.workdir, {
    target: { slurmConf: "/nonexistent/slurm.conf", queryTimeoutSeconds: 1 },
  });
  const mark = markOf("test");
  const begunMs = Date.now();
  const [observed, sent] = await Promise.allSettled([
    lost.observe([{ id: "1", mark, attempt: 1 }], NEVER),
    lost.submit({ mark, attempt: 1, spec: scriptSpec("true\n") }, NEVER),
  ]);
  expect(Date.now() - begunMs).toBeLessThan(5_000);
  expect(observed).toMatchObject({ status: "rejected", reason: { fault: "unreachable" } });
  expect(sent).toMatchObject({ status: "rejected", reason: { fault: "unreachable" } });
  expect((await lost.locate([mark], NEVER)).get(mark)).toBeNull();
  await lost.close();
});

/** A queue that has forgotten every job. */
function openForgetful(): SchedulerAdapter {
  const squeue = writeProgram(join(gates.path, "squeue"), "#!/bin/sh\nexit 0\n");
  return openSlurm(world.workdir, { target: { commands: { squeue } } });
}

test("a job that the queue has forgotten ends by accounting or by its exit record, never by their silence", async () => {
  const request = {
    mark: markOf("test"),
    attempt: 1,
    spec: scriptSpec("exit 4\n", { options: { requeue: false } }),
  };
  const waiting = {
    mark: markOf("test"),
    attempt: 1,
    spec: scriptSpec("exit 0\n", { options: { extra: ["--hold"] } }),
  };
  const plain = openSlurm(world.workdir);
  const job = await submitted(plain, request);
  const held = await submitted(plain, waiting);
  await until(plain, job, "ended", 30_000);
  if (cluster.hasAccounting) {
    await cluster.kill("slurmdbd");
    const forgetful = openForgetful();
    for (const ref of [job, held])
      expect((await forgetful.observe([ref], NEVER)).get(ref.id)).toMatchObject({
        kind: "unknown",
        gone: false,
      });
    await cluster.start("slurmdbd");
    await forgetful.close();
  }
  const forgetful = openForgetful();
  const seen = await eventually(async () => {
    const answers = await forgetful.observe([job, held], NEVER);
    expect(answers.get(job.id)?.kind).toBe("ended");
    return answers;
  }, 30_000);
  expect(seen.get(job.id)).toMatchObject({ end: { kind: "exited", exitCode: 4 } });
  expect(seen.get(held.id)).toMatchObject({ kind: "unknown" });
  await cluster.run(["scancel", held.id]);
  for (const one of [plain, forgetful]) await one.close();
}, 90_000);
