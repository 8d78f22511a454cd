import { chmodSync, mkdirSync, mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type look, submitted, until } from "../contract/scheduler-harness.ts";
import { eventually } from "../support/eventually.ts";
import { markOf, NEVER, scriptSpec } from "../support/jobs.ts";
import { removeTree } from "../support/remove-tree.ts";
import { clusterFromEnv } from "../support/slurm/cluster.ts";
import { openSlurm, SLURM_INSTANCE } from "../support/slurm/harness.ts";

const cluster = clusterFromEnv();
const folder = mkdtempSync(join(tmpdir(), "tr-run-as-"));
chmodSync(folder, 0o711);
const workdir = join(folder, "jobs");
mkdirSync(workdir, { mode: 0o711 });
const adapter = openSlurm(workdir, { target: { runAs: { ada: "alice", "*": "bob" } } });

afterAll(async () => {
  await adapter.close();
  removeTree(folder);
});

const PATIENCE_MS = 25_000;

async function idsOf(user: string): Promise<{ uid: string; gid: string; groups: string }> {
  const ask = async (flag: string) => (await cluster.run(["id", flag, user])).trim();
  return { uid: await ask("-u"), gid: await ask("-g"), groups: await ask("-G") };
}

async function stdoutOf(job: Parameters<typeof look>[1]): Promise<string> {
  const [chunk] = await adapter.readLogs([{ job, source: "stdout", cursor: null, maxBytes: 10_000 }], NEVER);
  return Buffer.from(chunk?.bytes ?? []).toString();
}

test.each([
  ["ada", "alice"],
  ["somebody else", "bob"],
])(
  "a job of the caller %s is %s's, with that user's group, groups and home, and its outputs come back",
  async (caller, user) => {
    const body = 'id -u; id -g; id -G; echo "$HOME $USER"; echo 1 > out.txt';
    const spec = { ...scriptSpec(body), caller };
    const mark = markOf(SLURM_INSTANCE);
    const job = await submitted(adapter, { mark, attempt: 1, spec });
    const { end } = await until(adapter, job, "ended", PATIENCE_MS);
    expect(end).toMatchObject({ kind: "exited", exitCode: 0 });
    const { uid, gid, groups } = await idsOf(user);
    expect((await stdoutOf(job)).split("\n")).toEqual([uid, gid, groups, `/home/${user} ${user}`, ""]);
    const limits = { maxFiles: 10, maxBytes: 1000, maxResultBytes: 1000 };
    const { artifacts } = await adapter.collect(job, { outputs: ["**"], ...limits }, NEVER);
    expect(artifacts.map(({ name }) => name)).toEqual(["out.txt"]);
    expect(statSync(join(workdir, mark)).uid).toBe(0);
    expect((await adapter.locate([mark], NEVER)).get(mark)).toEqual(job);
  },
);

test("another user's job is cancelled and given answers, and a directory that it made into a link leads nowhere", async () => {
  const trap = join(folder, "trap");
  mkdirSync(trap);
  const body = `input="$TAILRACE_TASK_DIR/.tailrace/input"
while [ ! -e "$input/one.json" ]; do sleep 0.1; done
cat "$input/one.json"
rm -r "$input" && ln -s ${trap} "$input" && echo linked
while :; do sleep 0.1; done`;
  const spec = { ...scriptSpec(body), caller: "ada" };
  const job = await submitted(adapter, { mark: markOf(SLURM_INSTANCE), attempt: 1, spec });
  await until(adapter, job, "running", PATIENCE_MS);
  await adapter.deliver(job, "one", { go: "on" }, NEVER);
  await eventually(async () => expect(await stdoutOf(job)).toBe('{"go":"on"}\nlinked\n'), PATIENCE_MS);
  await expect(adapter.deliver(job, "two", 2, NEVER)).rejects.toThrow(/cannot be written/);
  expect(() => statSync(join(trap, "two.json"))).toThrow(/ENOENT/);
  expect(await adapter.cancel(job, NEVER)).toBe("asked");
  const { end } = await until(adapter, job, "ended", PATIENCE_MS);
  expect(end.kind).toBe("cancelled");
});

test("a caller without a user is refused by name, and no job ever runs as root", async () => {
  const strict = openSlurm(workdir, { target: { runAs: { ada: "root", eve: "nobody-here" } } });
  const ask = (caller: string) =>
    strict.submit(
      { mark: markOf(SLURM_INSTANCE), attempt: 1, spec: { ...scriptSpec("exit 0"), caller } },
      NEVER,
    );
  expect(await ask("mallory")).toMatchObject({
    kind: "rejected",
    reason: expect.stringContaining('"mallory"'),
  });
  expect(await ask("ada")).toMatchObject({ kind: "rejected", reason: expect.stringContaining("root") });
  expect(await ask("eve")).toMatchObject({
    kind: "rejected",
    reason: expect.stringContaining("nobody-here"),
  });
  expect(await ask("__proto__")).toMatchObject({ kind: "rejected" });
  await strict.close();
});
