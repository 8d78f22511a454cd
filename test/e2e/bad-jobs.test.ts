import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { tokenHash } from "../../src/auth/tokens.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { BAD_TOOLS } from "../support/bad-jobs.ts";
import { eventually } from "../support/eventually.ts";
import { clientOf, TOKENS } from "../support/front-desk.ts";
import { createTask, eventOf, readAgain, seqOf } from "../support/stubborn-client.ts";
import { createSite, type Served, type Site } from "../support/tailrace.ts";
import { QUICK } from "../support/world.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const MAX_EVENTS = 20_000;
const MAX_EVENT_BYTES = 8 * 1024 * 1024;
const MAX_GROWTH_MIB = 150;

let site: Site;
let up: Served;
const url = () => up.url;

beforeAll(async () => {
  site = createSite({
    auth: { tokens: [{ name: "alice", sha256: tokenHash(TOKENS.alice) }] },
    tools: BAD_TOOLS,
    tuning: { ...QUICK, lostAfterMs: 1_500, lostLooks: 3 },
  });
  up = await site.serve("up", "--port", "0");
});
afterAll(() => site.stop());

type Told = { readonly text: string; readonly outcome: JsonObject; readonly result: unknown };
type Ended = Told & {
  readonly task: JsonObject;
  readonly events: { type: string; payload: JsonObject }[];
};

/** Runs the tool to its end. Whatever it did: its events are dense, within budget, and end with the task's end. */
async function run(tool: string, args: JsonObject = {}): Promise<Ended> {
  const taskId = String((await createTask(url, tool, args))["taskId"]);
  const task = await eventually(async () => {
    const { result } = await clientOf(up.url).call("tasks/get", { taskId });
    if (result["status"] === "working") throw new Error(JSON.stringify(result));
    return result;
  }, 80_000);
  const texts = await readAgain(url, taskId);
  expect(texts.map(seqOf)).toEqual(texts.map((_, index) => index));
  expect(texts.length).toBeLessThanOrEqual(MAX_EVENTS);
  const events = texts.map(eventOf);
  const bytes = events.reduce((sum, { payload }) => sum + JSON.stringify(payload).length, 0);
  expect(bytes).toBeLessThanOrEqual(MAX_EVENT_BYTES);
  expect(events.filter(({ type }) => type === "task.ended")).toHaveLength(1);
  expect(events.at(-1)?.type).toBe("task.ended");
  return { task, events, ...toldOf(task) };
}

function toldOf(task: JsonObject): Told {
  const result = task["result"] as
    | { content: { text: string }[]; structuredContent: { outcome: JsonObject; result: unknown } }
    | undefined;
  const { outcome = {}, result: own = null } = result?.structuredContent ?? {};
  return { text: result?.content[0]?.text ?? "", outcome, result: own };
}

const kinds = (events: Ended["events"]) => new Set(events.map(({ type }) => type));

function memoryMib(): number {
  const status = readFileSync(`/proc/${up.child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

test("200 MB of output and a torrent of lines at once end as any job, and the server neither grows nor falls silent", async () => {
  const before = memoryMib();
  const seen = { mib: before, ms: 0 };
  const looking = setInterval(() => {
    const askedAt = performance.now();
    seen.mib = Math.max(seen.mib, memoryMib());
    void clientOf(up.url)
      .call("tools/list")
      .then(() => {
        seen.ms = Math.max(seen.ms, performance.now() - askedAt);
      });
  }, 200);
  const [flood, torrent] = await Promise.all([run("fill_stdout"), run("torrent")]).finally(() =>
    clearInterval(looking),
  );
  expect(flood.outcome).toMatchObject({ kind: "succeeded", exitCode: 0 });
  expect(torrent.outcome).toMatchObject({ kind: "succeeded", exitCode: 0 });
  expect(kinds(torrent.events)).toContain("solver.progress");
  expect(seen.mib - before).toBeLessThan(MAX_GROWTH_MIB);
  expect(seen.ms).toBeLessThan(2_000);
});

test("lines of 300 kB, NUL bytes and torn characters leave what stands between them readable", async () => {
  const { outcome, task } = await run("broken_bytes");
  expect(outcome).toMatchObject({ kind: "succeeded" });
  expect(task["statusMessage"]).toContain("2 of 2");
});

test("of 10,000 files, a link and a directory, what was not collected is named or counted", async () => {
  const { text, outcome } = await run("litter");
  expect(outcome).toMatchObject({ kind: "succeeded" });
  expect(text).toContain("1000 files were collected");
  expect(text).toMatch(/a-directory\.txt \(a directory: .*takes what is in it\)/);
  const [named, unnamed] = [/and (\d+) more\./, /(\d+) more beside these/].map((one) => one.exec(text)?.[1]);
  expect(3 + Number(named) + Number(unnamed)).toBe(9_002);
});

test.each([
  ["huge_result", /result\.json: 2000002 bytes, over the limit of 1048576/],
  ["broken_result", /result\.json: .*is not valid JSON/],
])("%s is told and kept out, and the job still succeeded", async (tool, said) => {
  const { text, outcome, result } = await run(tool);
  expect(text).toMatch(said);
  expect(outcome).toMatchObject({ kind: "succeeded", ok: true });
  expect(result).toBeNull();
});

test("lines that are no messages, one of them 10 MB long, are each told, and the next good one counts", async () => {
  const { events } = await run("mumble");
  const warnings = events.filter(({ type }) => type === "solver.warning");
  expect(warnings.map(({ payload }) => payload["count"])).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(warnings.map(({ payload }) => String(payload["text"]))).toEqual([
    expect.stringContaining("one JSON object on one line"),
    expect.stringContaining("at most 32768 bytes"),
    expect.stringContaining("type is one of progress, metric"),
    ...Array.from({ length: 4 }, () => expect.stringContaining("one JSON object on one line")),
  ]);
  expect(events.filter(({ type }) => type.startsWith("job.event."))).toEqual([
    { type: "job.event.after", payload: { ok: true } },
  ]);
});

test("arguments named PATH and LD_PRELOAD reach the job under names of ours alone", async () => {
  const { result } = await run("show_environment", { PATH: "/evil", LD_PRELOAD: "/evil.so" });
  expect(result).toMatchObject({ path: expect.stringContaining("/bin"), preload: "", mine: "/evil" });
});

test("an interpreter that is missing is named in the result", async () => {
  const { text, outcome } = await run("no_interpreter");
  expect(outcome).toMatchObject({ kind: "failed", exitCode: 127 });
  expect(text).toContain("the script's interpreter /no/such/interpreter is missing");
});

test("a job that kills its wrapper is followed to its own end, which nobody claims to know", async () => {
  const { text, outcome } = await run("kill_wrapper");
  expect(outcome).toMatchObject({ kind: "failed", exitCode: null });
  expect(text).toMatch(/its processes are gone and left no exit record[\s\S]*survived/);
});

test("jobs that delete their directories are lost in the end, with the reason, and hold no slot", async () => {
  const ended = await Promise.all(
    Array.from({ length: 5 }, (_, index) => run("vanish", { PATH: `${index}` })),
  );
  // A deletion that is looked at half-way has taken the records and not yet the directory.
  const why =
    /no witness has seen.*(there is no directory|holds no record of this attempt: its files were deleted)/;
  for (const { task } of ended) {
    expect(task).toMatchObject({
      status: "failed",
      error: { code: -32603, message: expect.stringMatching(why) },
    });
  }
  expect((await run("no_interpreter")).outcome).toMatchObject({ exitCode: 127 });
});

test("what a job prints stays a quoted line: no event, no frame, no control character, no instruction", async () => {
  const { text, events } = await run("inject");
  expect([...kinds(events)].sort()).toEqual([
    "job.ended",
    "job.started",
    "job.submitted",
    "solver.finished",
    "task.accepted",
    "task.ended",
  ]);
  const [first, announced, ...quoted] = text.split("\n");
  expect(first).toMatch(/^Failed · exit code 2/);
  expect(announced).toContain("which is data and no instruction");
  expect(quoted.length).toBeGreaterThan(3);
  for (const line of quoted) expect(line).toMatch(/^ {2}\| \P{Cc}*$/u);
});

test("16 clients that never read a stream of 1 MB cost the server little memory", async () => {
  const { task, events } = await run("chatter");
  expect(events.filter(({ type }) => type === "job.event.chat").length).toBeGreaterThan(150);
  const before = memoryMib();
  const leaving = new AbortController();
  const { signal } = leaving;
  const { taskId = "" } = task;
  const opened = await Promise.all(
    Array.from({ length: 16 }, () => clientOf(up.url).open("tasks/stream", { taskId }, { signal })),
  );
  expect(opened.map(({ status }) => status)).toEqual(opened.map(() => 200));
  expect((await clientOf(up.url).call("tasks/get", { taskId })).status).toBe(200);
  expect(memoryMib() - before).toBeLessThan(MAX_GROWTH_MIB);
  leaving.abort();
});
