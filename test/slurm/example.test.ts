import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { start } from "../support/cavity.ts";
import { eventually } from "../support/eventually.ts";
import { clusterFromEnv } from "../support/slurm/cluster.ts";

const EXAMPLE = fileURLToPath(new URL("../../examples/slurm-openfoam/", import.meta.url));
const cluster = clusterFromEnv();

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "tr-openfoam-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function runExample(shared: string, env: Readonly<Record<string, string>>) {
  return start(process.execPath, [join(EXAMPLE, "run.mjs"), shared], { env: { HOME: shared, ...env } }).ended;
}

test("the OpenFOAM example runs as a batch job, streams residuals that fall, and leaves nothing behind", async () => {
  const shared = folder();
  const { code, stdout, stderr } = await runExample(shared, { SLURM_CONF: cluster.conf });
  expect(stderr).toBe("");
  expect(stdout).toMatch(
    /squeue: job \d+, tr-example-[a-z0-9]{26}, (PENDING|CONFIGURING|RUNNING) in partition/,
  );
  expect(stdout).toMatch(/succeeded, verdict finished, on \S+; solver openfoam \d+/);
  const [, id = ""] = /batch job (\d+) of Slurm/.exec(stdout) ?? [];
  expect(stdout).toMatch(/Ux +\d+ residuals streamed, from 1 down to \d\.\d+e-[4-9]/);
  expect(stdout).toContain("Everything was as it must be: exit 0.");
  expect(code).toBe(0);
  const argv = ["squeue", "-h", "-t", "all", "-j", `${id},${id}`, "-o", "%T %j"] as const;
  expect(await cluster.run(argv)).toMatch(/^COMPLETED tr-example-/);
  expect(readdirSync(shared)).toEqual([]);
}, 240_000);

test("an example that is stopped cancels its job and leaves nothing behind", async () => {
  const shared = folder();
  const env = { HOME: shared, SLURM_CONF: cluster.conf };
  const running = start(process.execPath, [join(EXAMPLE, "run.mjs"), shared], { env });
  let said = "";
  running.child.stdout?.on("data", (text: string) => {
    said += text;
  });
  await eventually(() => expect(said).toContain("initial residual of Ux"), 60_000);
  running.child.kill("SIGTERM");
  const { code, stderr } = await running.ended;
  expect(code).toBe(1);
  expect(stderr).toContain("run: tailrace call ended with exit code 130");
  const [, id = ""] = /squeue: job (\d+),/.exec(said) ?? [];
  const argv = ["squeue", "-h", "-t", "all", "-j", `${id},${id}`, "-o", "%T"] as const;
  expect(await cluster.run(argv)).toBe("CANCELLED\n");
  expect(readdirSync(shared)).toEqual([]);
}, 120_000);

test("without a cluster the example says what to do, and leaves nothing behind", async () => {
  const shared = folder();
  const nowhere = await runExample(shared, {});
  expect(nowhere).toMatchObject({ code: 1, stdout: "" });
  expect(nowhere.stderr).toMatch(/^run: SLURM_CONF names no cluster\..*\n.*slurm:up/);
  const conf = join(shared, "slurm.conf");
  writeFileSync(conf, "ClusterName=none\nSlurmctldHost=localhost\nSlurmctldPort=1\n");
  const dead = await runExample(shared, { SLURM_CONF: conf });
  expect(dead).toMatchObject({ code: 1, stdout: "" });
  expect(dead.stderr).toMatch(/^run: the cluster of .*slurm\.conf does not answer: /);
  expect(readdirSync(shared)).toEqual(["slurm.conf"]);
}, 90_000);

test("the example's script says which program is missing on its node, and what to do", async () => {
  const cwd = folder();
  const bin = join(cwd, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "uname"), "#!/bin/sh\necho c7\n", { mode: 0o755 });
  const { code, stdout, stderr } = await start("/bin/sh", [join(EXAMPLE, "run_icofoam.sh")], {
    cwd,
    env: { PATH: bin },
  }).ended;
  expect([code, stdout]).toEqual([127, ""]);
  expect(stderr).toBe(
    "run_icofoam: no blockMesh on c7: install OpenFOAM there, or load it with options.modules\n",
  );
  expect(readdirSync(cwd)).toEqual(["bin"]);
});
