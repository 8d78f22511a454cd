import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { eventually } from "../support/eventually.ts";
import { createSite, parseLines, type Running, runCli, type Served, type Site } from "../support/tailrace.ts";

// Each command is a process of its own; on a busy machine several of them take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let site: Site;
let server: Served;
beforeAll(async () => {
  site = createSite();
  server = await site.serve("up", "--port", "0");
});
afterAll(() => site.stop());

const ofKind = (lines: readonly JsonObject[], kind: string) => lines.filter((line) => line["kind"] === kind);
const seqs = (lines: readonly JsonObject[]) => ofKind(lines, "event").map((line) => line["seq"]);
const types = (lines: readonly JsonObject[]) => ofKind(lines, "event").map((line) => String(line["type"]));

/** Seqs 0, 1, 2, … as far as they go. */
function dense(lines: readonly JsonObject[]): number[] {
  return seqs(lines).map((_, index) => index);
}

/** A port that nobody listens on. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** The id of the task that a `call --json` has made, once its job runs. */
async function running(call: Running): Promise<string> {
  return await eventually(() => {
    const lines = call.lines();
    if (!types(lines).includes("dev.tailrace.job.started")) throw new Error(call.stdout() + call.stderr());
    return String(lines[0]?.["taskId"]);
  });
}

test("call follows a job to its end, prints what it came to, and exits with 0", async () => {
  const { code, stdout, stderr } = await site.run("call", "gated");
  expect(stdout).toMatch(/^OK: succeeded/);
  expect(stdout).toMatch(/result\.json +15 B +application\/json/);
  expect(stdout).toContain('"answer": 42');
  expect(stderr).toMatch(/#0 {2}accepted: gated on here/);
  expect(code).toBe(0);
});

test("for scripts, every event is one line of JSON, and the last line is the result", async () => {
  const { code, stdout } = await site.run("call", "gated", "--arg", "code=0", "--json");
  const lines = parseLines(stdout);
  expect(seqs(lines)).toEqual(dense(lines));
  expect(types(lines).at(-1)).toBe("dev.tailrace.task.ended");
  expect(lines.at(-1)).toMatchObject({
    kind: "result",
    task: { status: "completed", result: { isError: false, structuredContent: { result: { answer: 42 } } } },
  });
  expect(lines[0]).toMatchObject({
    kind: "task",
    taskId: expect.stringMatching(/^t_/),
    key: expect.any(String),
  });
  expect(code).toBe(0);
});

test("a job that goes wrong is told so, with exit code 3", async () => {
  const { code, stdout } = await site.run("call", "gated", "-a", "code=4");
  expect(stdout).toMatch(/^NOT OK: failed · exit code 4/);
  expect(code).toBe(3);
});

test("the same key finds the same task; with other arguments it is refused", async () => {
  const call = (...args: string[]) => site.run("call", "gated", "--json", "--key", "once", ...args);
  const [first, second] = [await call(), await call()].map(({ stdout }) => parseLines(stdout));
  expect(second?.[0]?.["taskId"]).toBe(first?.[0]?.["taskId"]);
  expect(second?.[0]?.["_meta"]).toMatchObject({ "dev.tailrace/existing": true });
  expect(ofKind(second ?? [], "event")).toEqual(ofKind(first ?? [], "event"));
  const other = await call("--arg", "code=1");
  expect(other).toMatchObject({ code: 5, stderr: expect.stringContaining("other arguments") });
});

test("arguments come as one JSON object from stdin or a file, and pairs win over them", async () => {
  const file = join(site.dir, "args.json");
  writeFileSync(file, '{"code": 9}');
  const from = await site.run("call", "gated", "--args-json", `@${file}`, "--arg", "code=0");
  expect(from.code).toBe(0);
  expect((await site.run("call", "gated", "--args-json", '{"code": 9}')).stdout).toContain("exit code 9");
  expect((await site.run("call", "gated", "--args-json", "[1]")).code).toBe(2);
});

test("what the server will not take is told in its own words, with exit code 5", async () => {
  expect(await site.run("call", "nothing")).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('no tool "nothing": the server has gated'),
  });
  expect(await site.run("call", "gated", "-a", "colour=red")).toMatchObject({
    code: 5,
    stderr: expect.stringContaining("colour"),
  });
  expect(await site.run("watch", "t_0123456789abcdefghijklmn")).toMatchObject({ code: 5 });
});

test("without following, the task id alone is printed; watch follows it from any event on", async () => {
  const gate = site.gate();
  const { code, stdout } = await site.run("call", "gated", "-a", `gate=${gate.path}`, "--no-follow");
  const taskId = stdout.trim();
  expect([code, taskId]).toEqual([0, expect.stringMatching(/^t_[\w-]{20,}$/)]);
  gate.open();
  const whole = parseLines((await site.run("watch", taskId, "--json")).stdout);
  expect(seqs(whole)).toEqual(dense(whole));
  const rest = parseLines((await site.run("watch", taskId, "--json", "--after", "1")).stdout);
  expect(ofKind(rest, "event")).toEqual(ofKind(whole, "event").slice(2));
  const last = String(seqs(whole).length - 1);
  const none = parseLines((await site.run("watch", taskId, "--json", "--after", last)).stdout);
  expect(none.map(({ kind }) => kind)).toEqual(["result"]);
});

test("the first Ctrl-C leaves the job alone and says how to come back; cancel stops it", async () => {
  const gate = site.gate();
  const call = site.start("call", "gated", "-a", `gate=${gate.path}`, "--json");
  const taskId = await running(call);
  call.child.kill("SIGINT");
  const left = await call.ended;
  expect(left).toMatchObject({ code: 130, stderr: expect.stringContaining(`tailrace watch ${taskId}`) });
  const cancelled = await site.run("cancel", taskId, "--wait", "--json");
  expect(parseLines(cancelled.stdout).at(-1)).toMatchObject({ task: { status: "cancelled" } });
  expect(cancelled.code).toBe(0);
  const watched = await site.run("watch", taskId);
  expect(watched).toMatchObject({ code: 3, stdout: expect.stringMatching(/^NOT OK: cancelled/) });
});

test("a token is needed, and comes from a file or the environment", async () => {
  const call = (env: Record<string, string>, ...args: string[]) =>
    runCli(["call", "gated", "--url", server.url, "--state-dir", site.dir, ...args], { env });
  const tokenFile = join(site.stateDir, "token");
  expect((await call({}, "--token-file", tokenFile)).code).toBe(0);
  const refused = await call({ TAILRACE_TOKEN: "wrong-token-wrong-token" });
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringMatching(/not known here.*--token-file/s) });
  const torn = await call({ TAILRACE_TOKEN: "secret-of-mine\nand-more" });
  expect(torn).toMatchObject({ code: 2, stderr: expect.stringContaining("TAILRACE_TOKEN holds no token") });
  expect(torn.stderr).not.toContain("secret");
  // Another state directory's token is not sent to this server, nor is any other.
  expect((await call({})).stderr).toMatch(/bearer token.*TAILRACE_TOKEN/s);
  expect((await call({}, "--token-file", join(site.dir, "none"))).code).toBe(2);
});

test("without a server, a client says so at once, with exit code 4", async () => {
  const none = await runCli(["call", "gated", "--state-dir", site.dir]);
  expect(none).toMatchObject({ code: 4, stderr: expect.stringContaining('"tailrace up"') });
  const closed = await closedPort();
  const url = `http://127.0.0.1:${closed}/mcp`;
  const nobody = await runCli(["call", "gated", "--url", url, "--state-dir", site.dir, "--patience", "0"]);
  expect(nobody.code).toBe(4);
  expect(nobody.stderr).toContain(`no server answers: connect ECONNREFUSED 127.0.0.1:${closed}`);
});

test("the operator lists tasks without their ids, shows one without its arguments, and forgets one", async () => {
  const gate = site.gate();
  const call = site.start("call", "gated", "-a", `gate=${gate.path}`, "--json", "--key", "forgettable");
  const taskId = await running(call);
  const list = (...args: string[]) => site.run("list", "--phase", "running", ...args);
  const { stdout } = await list();
  expect(stdout).toMatch(/t_.{4}… +gated +here +running/);
  expect(stdout).not.toContain(taskId);
  expect(parseLines((await list("--json", "--ids")).stdout)).toMatchObject([{ task: taskId, tool: "gated" }]);
  expect((await list("--target", "elsewhere")).stdout).toBe("no tasks\n");
  const shown = await site.run("show", taskId);
  expect(shown.stdout).toMatch(/phase +running[\s\S]*duties +watch, follow[\s\S]*#2 {2}started on/);
  expect(shown.stdout).not.toContain(gate.path);
  expect((await site.run("show", taskId, "--args")).stdout).toContain(gate.path);
  expect((await site.run("forget", taskId)).code).toBe(2);
  const forgotten = await site.run("forget", taskId, "--yes", "--why", "a test");
  expect(forgotten).toMatchObject({ code: 0, stdout: expect.stringContaining("a test") });
  const ended = await call.ended;
  expect(parseLines(ended.stdout).at(-1)).toMatchObject({
    task: { status: "failed", error: { message: expect.stringContaining("forgotten by the operator") } },
  });
  expect(ended.code).toBe(3);
  expect((await site.run("forget", taskId, "--yes")).stdout).toMatch(/^nothing to forget/);
  expect((await site.run("show", "t_nosuchtasknosuchtask")).code).toBe(1);
  gate.open();
});

test("doctor finds everything in order, in words and as JSON", async () => {
  const { code, stdout } = await site.run("doctor");
  expect(stdout).toMatch(/ok {4}store: durability/);
  expect(stdout).toMatch(/ok {4}target here: job directory/);
  expect(stdout).toMatch(/ok {4}tools: gated: runs on here with \/bin\/sh/);
  expect(code).toBe(0);
  const lines = parseLines((await site.run("doctor", "--json")).stdout);
  expect(lines.map((line) => line["status"])).not.toContain("fail");
  expect(new Set(lines.map((line) => line["area"]))).toEqual(
    new Set(["config", "access", "store", "target here", "tools"]),
  );
});
