import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import {
  createSite,
  parseLines,
  type Running,
  runCli,
  type Served,
  type Site,
  stopServer,
} from "../support/tailrace.ts";

// Each command is a process of its own; on a busy machine several of them take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let site: Site;
let server: Served;
beforeAll(async () => {
  site = createSite();
  server = await site.serve("up", "--port", "0");
});
afterAll(() => site.stop());

const shown = async (taskId: string) => (await site.run("show", taskId)).stdout;

async function running(call: Running): Promise<string> {
  return await eventually(() => {
    if (!call.stdout().includes("dev.tailrace.job.started")) throw new Error(call.stdout() + call.stderr());
    return String(call.lines()[0]?.["taskId"]);
  });
}

async function taskOf(...call: string[]): Promise<string> {
  const { stdout } = await site.run("call", "gated", ...call, "--no-follow", "--json");
  return String(parseLines(stdout).find((line) => typeof line["taskId"] === "string")?.["taskId"]);
}

test("the operator suspends a running job, its task says so, and resumes it; what cannot be done is told", async () => {
  const gate = site.gate();
  const call = site.start("call", "gated", "-a", `gate=${gate.path}`, "--json");
  const taskId = await running(call);
  const suspended = await site.run("suspend", taskId);
  expect(suspended).toMatchObject({ code: 0, stderr: "" });
  expect(suspended.stdout).toMatch(/^job \S+ of t_.{4}… \(gated on here\) is suspended\n$/);
  expect(suspended.stdout).not.toContain(taskId);
  await eventually(async () => {
    expect(await shown(taskId)).toMatch(/phase +suspended \(stopped by a signal\)/);
  });
  const resumed = await site.run("resume", taskId);
  expect(resumed).toMatchObject({ code: 0, stderr: "" });
  expect(resumed.stdout).toMatch(/^job \S+ of t_.{4}… \(gated on here\) goes on\n$/);
  await eventually(async () => {
    expect(await shown(taskId)).toMatch(/phase +running/);
  });
  gate.open();
  const { code, stdout } = await call.ended;
  expect(code).toBe(0);
  const types = parseLines(stdout).map((line) => line["type"]);
  expect(types.indexOf("dev.tailrace.job.suspended")).toBeGreaterThan(
    types.indexOf("dev.tailrace.job.started"),
  );
  expect(types).toContain("dev.tailrace.job.resumed");

  const late = await site.run("suspend", taskId);
  expect(late).toMatchObject({ code: 1, stdout: "" });
  expect(late.stderr).toMatch(/^tailrace: nothing to suspend: t_.{4}… has ended: succeeded/);
});

test("a refusal comes with the scheduler's reason and an exit code of its own", async () => {
  const gate = site.gate();
  const call = site.start("call", "gated", "-a", `gate=${gate.path}`, "--json");
  const taskId = await running(call);
  for (const action of ["hold", "release"]) {
    const { code, stdout, stderr } = await site.run(action, taskId);
    expect([code, stdout]).toEqual([5, ""]);
    expect(stderr).toMatch(
      new RegExp(`^tailrace: ${action} is refused for job .*: jobs of a local target cannot be held`),
    );
  }
  const elsewhere = join(site.dir, "elsewhere.yaml");
  writeFileSync(elsewhere, "targets: { there: { scheduler: local } }\n");
  const stranger = await runCli(["suspend", taskId, "--config", elsewhere, "--state-dir", site.stateDir]);
  expect(stranger).toMatchObject({ code: 1, stdout: "" });
  expect(stranger.stderr).toMatch(/^tailrace: the target here of t_.{4}… is not configured here: .*--config/);
  gate.open();
  await call.ended;
});

test("a task without a job, one that is not there, and what is no id are told apart", async () => {
  await stopServer(server);
  const desk = await site.serve("serve", "--port", "0");
  const taskId = await taskOf();
  const early = await site.run("hold", taskId);
  expect(early).toMatchObject({ code: 1, stdout: "" });
  expect(early.stderr).toMatch(/^tailrace: t_.{4}… has no job yet \(it is accepted\): /);
  const nobody = await site.run("hold", "t_nosuchtasknosuchtask");
  expect(nobody.code).toBe(1);
  expect(nobody.stderr).toContain("there is no task t_nosuchtasknosuchtask in this store");
  expect((await site.run("resume", "no/id")).code).toBe(2);
  await stopServer(desk);
});

test("help lists the four commands", async () => {
  const { stdout } = await runCli(["--help"]);
  for (const action of ["hold", "release", "suspend", "resume"])
    expect(stdout).toMatch(new RegExp(`^ +${action} \\[options\\] <taskId> +\\S`, "m"));
});
