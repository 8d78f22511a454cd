import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseIdentity } from "../../../adapters/schedulers/local/processes.ts";
import { parseLifeRecord } from "../../../adapters/schedulers/shared/exit-record.ts";
import type { JobRef, SchedulerAdapter } from "../../../src/domain/adapter.ts";
import { look, submitted, until } from "../../contract/scheduler-harness.ts";
import { eventually } from "../../support/eventually.ts";
import { markOf, NEVER, scriptSpec, type TestDirectory, testDirectory } from "../../support/jobs.ts";
import {
  carriers,
  INSTANCE,
  type LocalOptions,
  openLocal,
  spawnSubmitter,
} from "../../support/local-scheduler.ts";

let directory: TestDirectory;
let workdir: string;
const opened: SchedulerAdapter[] = [];
beforeEach(() => {
  directory = testDirectory();
  workdir = join(directory.path, "jo'b s $x*");
});
afterEach(async () => {
  for (const adapter of opened.splice(0)) await adapter.close();
  directory.remove();
});

function open(options: LocalOptions = {}): SchedulerAdapter {
  const adapter = openLocal(workdir, options);
  opened.push(adapter);
  return adapter;
}

const HANG = "while :; do sleep 0.1; done";
const own = (job: JobRef, name: string) => join(workdir, job.mark, ".tailrace", name);
const submit = (adapter: SchedulerAdapter, text: string, walltimeSeconds = 60) =>
  submitted(adapter, { mark: markOf(INSTANCE), attempt: 1, spec: scriptSpec(text, { walltimeSeconds }) });

function wrapperOf(job: JobRef): number {
  const identity = parseIdentity(readFileSync(own(job, "claim.1"), "utf8").trim());
  if (identity === null) throw new Error("the claim names no process");
  return identity.pid;
}

test("a job outlives a kill -9 of the process that started it, and a new process takes it up", async () => {
  const mark = markOf(INSTANCE);
  const spec = scriptSpec("echo up; sleep 1; echo down; exit 3");
  const starter = spawnSubmitter(workdir, "running", { mark, attempt: 1, spec });
  await once(starter.stdout ?? starter, "data");
  starter.kill("SIGKILL");
  await once(starter, "exit");
  const adapter = open();
  const job = (await adapter.locate([mark], NEVER)).get(mark);
  if (job == null) throw new Error("not found");
  expect((await look(adapter, job)).kind).toBe("running");
  const { end } = await until(adapter, job, "ended", 10_000);
  expect(end).toMatchObject({
    kind: "exited",
    exitCode: 3,
    witness: "exit_record",
    bytes: { stdout: 8, stderr: 0 },
  });
});

test("a submit that died before its job was in the line is put there by the next look", async () => {
  const mark = markOf(INSTANCE);
  const starter = spawnSubmitter(workdir, "accepted", { mark, attempt: 1, spec: scriptSpec("exit 5") });
  await once(starter, "exit");
  expect(readdirSync(join(workdir, ".queue"))).toEqual([]);
  const adapter = open();
  const { end } = await until(adapter, { id: `${mark.slice(-26)}.1`, mark, attempt: 1 }, "ended", 10_000);
  expect(end.exitCode).toBe(5);
});

test("never more jobs than slots over several processes, first come first served, and waiting says why", async () => {
  const adapters = [open({ maxConcurrent: 2 }), open({ maxConcurrent: 2 })];
  const trace = join(directory.path, "trace");
  const jobs: JobRef[] = [];
  for (let index = 0; index < 6; index++) {
    const text = `echo "+${index}" >> ${trace}; sleep 0.3; echo "-${index}" >> ${trace}`;
    const adapter = adapters[index % 2];
    if (adapter !== undefined) jobs.push(await submit(adapter, text));
  }
  const [first, second] = adapters;
  const last = jobs.at(-1);
  if (first === undefined || second === undefined || last === undefined) throw new Error("unexpected");
  expect(await look(first, last)).toEqual({
    kind: "queued",
    requeues: 0,
    reason: "waiting for a free slot: 2 of 2 in use",
  });
  await Promise.all(
    adapters.map((adapter) =>
      eventually(async () => {
        const seen = await adapter.observe(jobs, NEVER);
        expect([...seen.values()].every((one) => one.kind === "ended")).toBe(true);
      }, 15_000),
    ),
  );
  const lines = readFileSync(trace, "utf8").trim().split("\n");
  let busy = 0;
  let most = 0;
  for (const line of lines) {
    busy += line.startsWith("+") ? 1 : -1;
    most = Math.max(most, busy);
  }
  expect(most).toBe(2);
  const begun = lines.filter((line) => line.startsWith("+")).map((line) => Number(line.slice(1)));
  expect(begun.toSorted()).toEqual([0, 1, 2, 3, 4, 5]);
  // Two start at once; beyond that nobody overtakes.
  for (const [place, index] of begun.entries()) expect(Math.abs(index - place)).toBeLessThanOrEqual(1);
});

test("walltime: TERM, then KILL, and the end is a timeout", async () => {
  const adapter = open({ graceSeconds: 0.5 });
  const job = await submit(adapter, `trap '' TERM; ${HANG}`, 1);
  const { end } = await until(adapter, job, "ended", 10_000);
  expect(end).toMatchObject({
    kind: "timeout",
    signal: 9,
    termAtMs: null,
    reason: "it ran into its walltime",
  });
  expect(carriers(join(workdir, job.mark))).toEqual([]);
});

test("a stop is brought to its end by the wrapper alone, with no process of ours left", async () => {
  const adapter = open({ graceSeconds: 0.5 });
  const job = await submit(adapter, `trap '' TERM; echo up; ${HANG}`);
  await eventually(() => expect(readFileSync(own(job, "stdout"), "utf8")).toBe("up\n"));
  await adapter.cancel(job, NEVER);
  await adapter.close();
  await eventually(() => expect(readFileSync(own(job, "exit.0.json"), "utf8")).toContain('"signal":9'));
  expect(carriers(join(workdir, job.mark))).toEqual([]);
});

test("a killed wrapper does not end its job; when the job is gone too it has vanished, for every later look", async () => {
  const adapter = open();
  const job = await submit(adapter, "sleep 1.2");
  await until(adapter, job, "running", 5000);
  await eventually(() => expect(carriers(join(workdir, job.mark)).length).toBeGreaterThan(0));
  process.kill(wrapperOf(job), "SIGKILL");
  await eventually(async () =>
    expect(await look(adapter, job)).toMatchObject({
      kind: "running",
      reason: expect.stringContaining("wrapper"),
    }),
  );
  const seen = await until(adapter, job, "ended", 10_000);
  expect(seen.end).toMatchObject({ kind: "vanished", witness: "process", started: true, exitCode: null });
  expect(await look(open(), job)).toEqual(seen);
  expect(timers(job)).toEqual([]);
});

test("a job whose wrapper is gone can still be cancelled, with TERM and after the grace KILL", async () => {
  const adapter = open({ graceSeconds: 0.3 });
  const job = await submit(adapter, `trap '' TERM; echo up; ${HANG}`);
  await eventually(() => expect(readFileSync(own(job, "stdout"), "utf8")).toBe("up\n"));
  process.kill(wrapperOf(job), "SIGKILL");
  await eventually(async () => {
    await adapter.cancel(job, NEVER);
    expect((await look(adapter, job)).kind).toBe("ended");
  });
  expect(await look(adapter, job)).toMatchObject({
    end: { kind: "cancelled", witness: "process", started: true },
  });
  expect(carriers(join(workdir, job.mark))).toEqual([]);
});

test("after a restart of the machine a job without an exit record failed with its node", async () => {
  const adapter = open();
  const job = await submit(adapter, "exit 0");
  await until(adapter, job, "ended", 5000);
  const claim = readFileSync(own(job, "claim.1"), "utf8");
  const other = claim.replace(/[0-9a-f-]{36}$/m, "00000000-0000-0000-0000-000000000000");
  writeFileSync(own(job, "claim.1"), other);
  const life = parseLifeRecord(readFileSync(own(job, "life.0.json"), "utf8"));
  writeFileSync(own(job, "life.0.json"), JSON.stringify({ ...life, identity: other.trim() }));
  expect(await look(adapter, job)).toMatchObject({
    kind: "ended",
    end: { kind: "node_fail", witness: "process" },
  });
  const elsewhere = await submit(adapter, "exit 0");
  await until(adapter, elsewhere, "ended", 5000);
  const moved = {
    ...parseLifeRecord(readFileSync(own(elsewhere, "life.0.json"), "utf8")),
    host: "another",
    identity: other.trim(),
  };
  writeFileSync(own(elsewhere, "claim.1"), other);
  writeFileSync(own(elsewhere, "life.0.json"), JSON.stringify(moved));
  expect(await look(adapter, elsewhere)).toMatchObject({
    kind: "unknown",
    why: expect.stringContaining("another"),
    gone: false,
  });
});

test("a job that is stopped by a signal is suspended, goes on, and can be cancelled while it stands", async () => {
  const adapter = open();
  const job = await submit(adapter, HANG);
  await until(adapter, job, "running", 5000);
  const leader = await eventually(() => {
    const script = parseLifeRecord(readFileSync(own(job, "life.0.json"), "utf8"))?.script;
    if (script == null) throw new Error("not yet");
    return script.pid;
  });
  process.kill(-leader, "SIGSTOP");
  await until(adapter, job, "suspended", 5000);
  process.kill(-leader, "SIGCONT");
  await until(adapter, job, "running", 5000);
  process.kill(-leader, "SIGSTOP");
  process.kill(wrapperOf(job), "SIGSTOP");
  await until(adapter, job, "suspended", 5000);
  await adapter.cancel(job, NEVER);
  expect((await until(adapter, job, "ended", 5000)).end).toMatchObject({
    signal: 15,
    termAtMs: expect.any(Number),
  });
});

test("a full disk at submit is a fault that started nothing, and leaves no half-written file", async () => {
  spawnSync("mkdir", [workdir]);
  expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", workdir]).status).toBe(0);
  try {
    const adapter = open();
    await adapter.check(NEVER);
    spawnSync("sh", ["-c", "cat /dev/zero > fill"], { cwd: workdir });
    const mark = markOf(INSTANCE);
    const spec = scriptSpec("exit 0", { args: { text: "x".repeat(10_000) } });
    const fault = await adapter.submit({ mark, attempt: 1, spec }, NEVER).catch((error: unknown) => error);
    expect(fault).toMatchObject({
      name: "BridgeError",
      fault: "unreachable",
      message: expect.stringContaining("the disk is full"),
    });
    expect(readdirSync(workdir).toSorted()).toEqual([".queue", ".slots", "fill"]);
    spawnSync("rm", [join(workdir, "fill")]);
    expect(
      (
        await until(
          adapter,
          await submitted(adapter, { mark, attempt: 1, spec: scriptSpec("exit 0") }),
          "ended",
          5000,
        )
      ).end.exitCode,
    ).toBe(0);
    await adapter.close();
  } finally {
    spawnSync("umount", [workdir]);
  }
});

test("a read-only or vanished workdir is unreachable, and never reads as no such job", async () => {
  spawnSync("mkdir", [workdir]);
  expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", workdir]).status).toBe(0);
  const adapter = open();
  const job = await submit(adapter, "exit 0");
  await until(adapter, job, "ended", 5000);
  spawnSync("mount", ["-o", "remount,ro", workdir]);
  await expect(submit(adapter, "exit 0")).rejects.toThrow(/read-only/);
  expect((await look(adapter, job)).kind).toBe("ended");
  spawnSync("umount", [workdir]);
  await expect(adapter.locate([job.mark], NEVER)).rejects.toMatchObject({ fault: "unreachable" });
  await expect(adapter.observe([job], NEVER)).rejects.toMatchObject({ fault: "unreachable" });
});

test("the server's own environment stays out of the job", async () => {
  process.env["TAILRACE_TEST_SECRET"] = "s3cret";
  try {
    const adapter = open();
    const job = await submit(adapter, "env");
    await until(adapter, job, "ended", 5000);
    const lines = readFileSync(own(job, "stdout"), "utf8");
    expect(lines).not.toContain("s3cret");
    expect(lines).toContain("LC_ALL=C\n");
    expect(lines).toContain(`TAILRACE_TASK_DIR=${join(workdir, job.mark)}\n`);
  } finally {
    delete process.env["TAILRACE_TEST_SECRET"];
  }
});

function timers(job: JobRef): string[] {
  const pattern = `TAILRACE_TIMER_OF=${join(workdir, job.mark)}`;
  const { stdout } = spawnSync(
    "sh",
    ["-c", 'grep -lF "$1" /proc/[0-9]*/environ 2>/dev/null', "sh", pattern],
    { encoding: "utf8" },
  );
  return stdout.split("\n").filter((line) => line !== "");
}
