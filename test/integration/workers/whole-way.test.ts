import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { removeTree } from "../../support/remove-tree.ts";
import { scriptTool, startWorld, type World } from "../../support/world.ts";

let world: World;

/** Each start of a job appends a line to a file of the test's, so that starts are counted without our own code. */
const COUNTED = `echo "$TAILRACE_ARG_NAME" >> "$STARTS"\n`;

beforeAll(async () => {
  world = await startWorld({
    maxConcurrent: 2,
    tools: [
      scriptTool(
        "good",
        `${COUNTED}echo out; echo err >&2; echo "$TAILRACE_ARG_NAME" > result.txt`,
        startsEnv(),
      ),
      scriptTool("bad", "echo broken >&2; exit 3"),
      scriptTool("slow", `${COUNTED}while [ ! -e "$TAILRACE_ARG_GATE" ]; do sleep 0.05; done`, startsEnv()),
      scriptTool("forked", `setsid sh -c 'trap "" TERM; sleep 600' & echo $! > child; wait`),
    ],
  });
});
afterAll(async () => {
  await world.stop();
  removeTree(countedIn);
});

const countedIn = mkdtempSync(join(tmpdir(), "tr-starts-"));

function startsEnv() {
  return { env: { STARTS: join(countedIn, "starts") } };
}

/** A process that was killed and not yet reaped no longer counts. */
function isAlive(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return !["Z", "X"].includes(stat.slice(stat.lastIndexOf(")") + 2)[0] ?? "");
}

function starts(name: string): number {
  const text = readFileSync(startsEnv().env.STARTS, "utf8");
  return text.split("\n").filter((line) => line === name).length;
}

test("a job runs once, its events tell the whole story in order, and its files are the result", async () => {
  const taskId = await world.start("good", { name: "one" });
  const task = await world.ended(taskId);
  expect(task).toMatchObject({ status: "completed", result: { isError: false } });
  expect(starts("one")).toBe(1);
  const events = await world.events(taskId);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  const types = events.map(({ type }) => type.replace("dev.tailrace.", ""));
  expect(types[0]).toBe("task.accepted");
  expect(types.at(-1)).toBe("task.ended");
  expect(types).toEqual(
    expect.arrayContaining(["job.submitted", "job.started", "job.ended", "artifact.created"]),
  );
  const { result } = task as {
    result: { structuredContent: { artifacts: { name: string; bytes: number }[] } };
  };
  expect(result.structuredContent.artifacts).toMatchObject([{ name: "result.txt", bytes: 4 }]);
});

test("a job that exits with 3 is a completed task whose result is an error with the tail of stderr", async () => {
  const task = await world.ended(await world.start("bad"));
  expect(task).toMatchObject({
    status: "completed",
    result: { isError: true, structuredContent: { outcome: { kind: "failed", exitCode: 3 } } },
  });
  expect(JSON.stringify(task["result"])).toContain("broken");
});

test("jobs over maxConcurrent wait honestly in the queue and then run", async () => {
  const gate = join(world.dir, "gate");
  const ids = await Promise.all(["a", "b", "c"].map((name) => world.start("slow", { name, gate })));
  await eventually(async () => {
    const messages = await Promise.all(
      ids.map(async (taskId) => String((await world.call("tasks/get", { taskId })).result["statusMessage"])),
    );
    expect(messages.filter((message) => message.startsWith("running"))).toHaveLength(2);
    expect(messages.filter((message) => message.startsWith("queued"))).toHaveLength(1);
  });
  writeFileSync(gate, "");
  for (const taskId of ids) expect(await world.ended(taskId)).toMatchObject({ status: "completed" });
});

test("a cancel ends as cancelled once the job has stopped, and no child of the job is left", async () => {
  const taskId = await world.start("forked");
  const { job, mark } = await eventually(async () => {
    const stored = await world.ledger.store.read(taskId);
    if (stored?.record.phase !== "running") throw new Error("not running");
    return stored.record;
  });
  expect(job).not.toBeNull();
  const child = await eventually(() =>
    Number(readFileSync(join(world.dir, "jobs", "here", mark, "work", "child"), "utf8")),
  );
  await world.call("tasks/cancel", { taskId });
  expect(await world.ended(taskId)).toMatchObject({ status: "cancelled" });
  expect(isAlive(child)).toBe(false);
});

test("a cancel before the submit ends the task without a start", async () => {
  await world.stopWorkers();
  const taskId = await world.start("good", { name: "never" });
  await world.call("tasks/cancel", { taskId });
  await world.startWorkers();
  expect(await world.ended(taskId)).toMatchObject({ status: "cancelled" });
  expect(starts("never")).toBe(0);
});

test("a task is followed to its end although every queue was emptied while it ran", async () => {
  const gate = join(world.dir, "gate-emptied");
  const taskId = await world.start("slow", { name: "emptied", gate });
  await eventually(() => expect(starts("emptied")).toBe(1));
  await world.stopWorkers();
  const redis = await world.redis.connect("commands");
  for (const kind of ["submit", "watch", "follow", "cancel", "upkeep"]) {
    const keys = await redis.keys(`{tr}:${kind}.here:*`);
    if (keys.length > 0) await redis.del(...keys);
  }
  writeFileSync(gate, "");
  await world.startWorkers();
  expect(await world.ended(taskId)).toMatchObject({ status: "completed" });
  expect(starts("emptied")).toBe(1);
});

test("workers that are stopped hand a running task over without waiting for a stalled lock", async () => {
  const gate = join(world.dir, "gate-handover");
  const taskId = await world.start("slow", { name: "handover", gate });
  await eventually(async () => {
    expect((await world.ledger.store.read(taskId))?.record.phase).toBe("running");
  });
  await world.stopWorkers();
  await world.startWorkers();
  writeFileSync(gate, "");
  expect(await world.ended(taskId)).toMatchObject({ status: "completed" });
  expect(starts("handover")).toBe(1);
});
