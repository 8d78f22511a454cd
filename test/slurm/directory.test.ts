import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type TestDirectory, testDirectory } from "../support/jobs.ts";
import { type SlurmWorld, startSlurmWorld } from "../support/slurm/world.ts";
import { scriptTool } from "../support/world.ts";

const GATED = "#!/bin/sh\n: >begun\nuntil test -e ../../../go; do sleep 0.1; done\necho done\nexit 3\n";
const FILL = `#!/bin/sh
echo begun
head -c 8000000 /dev/zero >heap 2>/dev/null || full=1
echo "this line is lost"
exit "\${full:-0}5"
`;
const ONCE = { requeue: false };
/** Each is the work directory of a target of its own. */
const PLACES = ["missing", "moved", "unmounted", "full", "readonly", "private"] as const;
type Place = (typeof PLACES)[number];

let base: TestDirectory;
let world: SlurmWorld;
const at = (...parts: string[]) => join(base.path, ...parts);
const jobs = (place: Place) => at(place, "jobs");
const sh = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: "pipe" });
const mounted: string[] = [];

function mountSmall(path: string): void {
  sh("mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "tmpfs", path);
  mounted.push(path);
}

beforeAll(async () => {
  base = testDirectory();
  sh("chmod", "755", base.path);
  for (const place of PLACES) mkdirSync(at(place));
  for (const place of ["full", "readonly"] as const) mountSmall(at(place));
  for (const place of PLACES) if (place !== "missing") mkdirSync(jobs(place));
  mkdirSync(at("elsewhere"));
  mkdirSync(at("elsewhere", "jobs"));
  sh("mount", "--bind", at("elsewhere"), at("unmounted"));
  mounted.push(at("unmounted"));
  sh("chmod", "700", at("private"));
  const gated = (place: Place) => scriptTool(place, GATED, { target: place, options: ONCE });
  world = await startSlurmWorld({
    others: Object.fromEntries(
      PLACES.map((place) => [
        place,
        { workdir: jobs(place), ...(place === "private" ? { runAs: { "*": "alice" } } : {}) },
      ]),
    ),
    tools: [
      ...PLACES.filter((place) => place !== "full").map(gated),
      scriptTool("full", FILL, { target: "full", options: ONCE }),
      scriptTool("deleter", '#!/bin/sh\nrm -rf "$TAILRACE_TASK_DIR"\nexit 6\n', { options: ONCE }),
    ],
  });
});
afterAll(async () => {
  await world.stop();
  for (const path of mounted) sh("sh", "-c", 'umount -l "$1" || ! mountpoint -q "$1"', "sh", path);
  base.remove();
});

/** The script runs: Slurm calls a job running some time before. */
async function begun(id: string, jobsDir: string): Promise<void> {
  await eventually(async () => {
    const { mark } = await world.record(id);
    if (!existsSync(join(jobsDir, mark, "work/begun"))) throw new Error("the script has not begun");
  }, 20_000);
  await world.says(id, /^running/, 20_000);
}

const go = (place: string) => sh("touch", at(place, "go"));

describe.concurrent("the work directory", () => {
  test("that is missing is told with what to do, and its task goes on once it is there", async () => {
    const id = await world.start("missing");
    await world.says(
      id,
      /^being submitted to missing \(.*there is no directory .*\/missing\/jobs: make it on the file system/,
    );
    expect(existsSync(jobs("missing"))).toBe(false);
    mkdirSync(jobs("missing"));
    go("missing");
    expect((await world.outcome(id, 40_000)).outcome).toMatchObject({ kind: "failed", exitCode: 3 });
  });

  test("that is moved away while a job runs ends nothing, and is gone on with when it is back", async () => {
    const id = await world.start("moved");
    await begun(id, jobs("moved"));
    renameSync(jobs("moved"), at("moved", "aside"));
    await world.says(
      id,
      /cannot tell about the job just now \(.*no such file or directory.*jobs\/.tailrace-workdir/i,
    );
    go("moved");
    await eventually(async () => {
      const { job } = await world.record(id);
      const state = await world.cluster.run([
        "squeue",
        "-h",
        "-t",
        "all",
        `-j${job?.id},${job?.id}`,
        "-o",
        "%T",
      ]);
      expect(state.trim()).toMatch(/^(FAILED|COMPLETED)$/);
    }, 20_000);
    expect((await world.record(id)).phase).toBe("running");
    renameSync(at("moved", "aside"), jobs("moved"));
    const { outcome } = await world.outcome(id, 60_000);
    expect(outcome).toMatchObject({ kind: "failed", exitCode: 3 });
  });

  test("that is unmounted while a job runs ends nothing, and is gone on with when it is mounted again", async () => {
    const id = await world.start("unmounted");
    await begun(id, jobs("unmounted"));
    sh("umount", "-l", at("unmounted"));
    await world.says(id, /cannot tell about the job just now \(.*no such file or directory/i);
    sh("touch", at("elsewhere", "go"));
    await eventually(async () => {
      const { mark } = await world.record(id);
      expect(readdirSync(at("elsewhere/jobs", mark, ".tailrace"))).toContain("exit.0.json");
    });
    expect((await world.record(id)).phase).toBe("running");
    sh("mount", "--bind", at("elsewhere"), at("unmounted"));
    const { outcome } = await world.outcome(id, 60_000);
    expect(outcome).toMatchObject({ kind: "failed", exitCode: 3 });
  });

  test("that is full costs the job its output and not its end", async () => {
    const id = await world.start("full");
    const { outcome } = await world.outcome(id, 60_000);
    expect(outcome).toMatchObject({ kind: "failed", exitCode: 15 });
    expect(outcome["basis"]).toContain("witness:exit_record");
    // The heap is still there: nobody can be submitted, and that is told.
    const next = await world.start("full");
    await world.says(next, /^being submitted to full \(.*the disk is full: free some space/);
    rmSync(join(jobs("full"), (await world.record(id)).mark), { recursive: true });
    expect((await world.outcome(next, 60_000)).outcome).toMatchObject({ exitCode: 15 });
  });

  test("that is read-only is told, and its task goes on once it can be written", async () => {
    sh("mount", "-o", "remount,ro", at("readonly"));
    const id = await world.start("readonly");
    await world.says(id, /^being submitted to readonly \(.*the file system is read-only: make it writable/);
    sh("mount", "-o", "remount,rw", at("readonly"));
    go("readonly");
    expect((await world.outcome(id, 60_000)).outcome).toMatchObject({ kind: "failed", exitCode: 3 });
  });

  test("that the job's user cannot reach on the node is told as what kept the job from its start", async () => {
    const { outcome } = await world.outcome(await world.start("private"), 60_000);
    expect(outcome).toMatchObject({
      kind: "launch_failed",
      reason: expect.stringContaining("its work directory or output file could not be opened on the node"),
    });
  });

  test("whose job deletes its own directory has the end that Slurm tells, not that of a script that never began", async () => {
    const id = await world.start("deleter");
    await eventually(async () => {
      const { phase, end } = await world.record(id);
      // Its log is waited for as for any that a shared file system may show late.
      expect(phase).toBe("collecting");
      expect(end).toMatchObject({ kind: "exited", exitCode: 6, witness: "controller", started: true });
    }, 40_000);
  }, 60_000);
});
