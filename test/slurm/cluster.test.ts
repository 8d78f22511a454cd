import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { removeTree } from "../support/remove-tree.ts";
import { clusterFromEnv } from "../support/slurm/cluster.ts";

const cluster = clusterFromEnv();
const dir = mkdtempSync(join(tmpdir(), "tr-cluster-"));
const sbatch = (...options: string[]) =>
  ["sbatch", "--parsable", `--chdir=${dir}`, "--output=job.out", ...options] as const;
const stateOf = async (id: string) =>
  (
    await cluster.run(["squeue", "--noheader", "--states=all", `--jobs=${id},${id}`, "--format=%T %r"])
  ).trim();

afterAll(() => removeTree(dir));

test("a job that is submitted as data runs, and squeue sees it run and end", async () => {
  const quoted = `it's "$(touch never)" \\ data`;
  const script = join(dir, "job.sh");
  writeFileSync(script, '#!/bin/sh\nprintf %s "$1" > said\nuntil test -e go; do sleep 0.1; done\nexit 3\n');
  const id = (await cluster.run(sbatch(script, quoted))).trim();
  await eventually(async () => expect(await stateOf(id)).toBe("RUNNING None"));
  await eventually(() => expect(readFileSync(join(dir, "said"), "utf8")).toBe(quoted));
  writeFileSync(join(dir, "go"), "");
  await eventually(async () => expect(await stateOf(id)).toBe("FAILED NonZeroExitCode"));
});

test("a script on stdin, submitted as another user, is that user's job", async () => {
  const argv = ["sbatch", "--parsable", "--chdir=/", "--output=/dev/null", "--hold"] as const;
  const id = (await cluster.run(argv, { input: "#!/bin/sh\ntrue\n", as: "alice" })).trim();
  onTestFinished(async () => {
    await cluster.run(["scancel", id]);
  });
  expect(await cluster.run(["squeue", "--noheader", `--jobs=${id}`, "--format=%u"])).toBe("alice\n");
});

test("a refusal is a value with its exit code and words", async () => {
  const answer = await cluster.tryRun(sbatch("--partition=nowhere", "--wrap=true"));
  expect(answer).toMatchObject({ exitCode: 1, stdout: "" });
  expect(answer.stderr).toContain("invalid partition specified: nowhere");
  await expect(cluster.run(["sh", "-c", "echo no >&2; exit 4"])).rejects.toThrow(/ended with 4: no/);
  expect(await cluster.tryRun(["sleep", "60"], { timeoutMs: 50 })).toMatchObject({ exitCode: null });
  await expect(cluster.tryRun(["no-such-program"])).rejects.toThrow("no-such-program cannot be run");
});

test("a stopped controller hangs and goes on where it was", async () => {
  const pid = cluster.pidOf("slurmctld");
  onTestFinished(() => cluster.cont("slurmctld"));
  await cluster.stop("slurmctld");
  expect(await cluster.tryRun(["squeue"], { timeoutMs: 500 })).toMatchObject({ exitCode: null });
  await cluster.cont("slurmctld");
  await cluster.run(["squeue"]);
  expect(cluster.pidOf("slurmctld")).toBe(pid);
});

test.each(["slurmctld", "slurmd.c2", "munged"] as const)("%s comes back after a kill", async (name) => {
  const before = cluster.pidOf(name);
  onTestFinished(() => cluster.start(name));
  await cluster.kill(name);
  expect(cluster.pidOf(name)).toBeNull();
  await cluster.start(name);
  expect(cluster.pidOf(name)).toEqual(expect.any(Number));
  expect(cluster.pidOf(name)).not.toBe(before);
  await cluster.start(name);
  await cluster.run(["squeue"]);
});

test("a daemon that the cluster does not have cannot be stopped or started", async () => {
  expect(cluster.pidOf("slurmd.c99")).toBeNull();
  await expect(cluster.stop("slurmd.c99")).rejects.toThrow(/slurmd.c99 of the cluster at .* does not run/);
  await expect(cluster.start("slurmd.c99")).rejects.toThrow(/slurmd.c99 ended at once/);
});

test("accounting is there exactly when the configuration says so", async () => {
  const { exitCode, stderr } = await cluster.tryRun(["sacct", "--allocations", "--noheader"]);
  if (cluster.hasAccounting) {
    expect(exitCode).toBe(0);
    expect(cluster.pidOf("slurmdbd")).toEqual(expect.any(Number));
    const known = await cluster.run(["sacctmgr", "-n", "-P", "show", "assoc", "format=account,user"]);
    expect(known.split("\n")).toEqual(expect.arrayContaining(["proj|alice", "capped|bob", "proj|root"]));
  } else {
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Slurm accounting storage is disabled");
    expect(cluster.pidOf("slurmdbd")).toBeNull();
  }
});
