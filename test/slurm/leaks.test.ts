import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { quoted, type TestDirectory, testDirectory } from "../support/jobs.ts";
import { writeProgram } from "../support/slurm/programs.ts";
import { type SlurmWorld, startSlurmWorld } from "../support/slurm/world.ts";
import { scriptTool } from "../support/world.ts";

const draw = (what: string) => `${what}-${randomBytes(12).toString("hex")}`;
const SECRET = draw("argument");
const KEY = draw("key");
const OF_SERVER = draw("server");

let dir: TestDirectory;
let world: SlurmWorld;
let log = "";
beforeAll(async () => {
  dir = testDirectory();
  process.env["TAILRACE_TEST_SERVER_SECRET"] = OF_SERVER;
  // What everybody on the machine can see while sbatch runs.
  const sbatch = writeProgram(
    join(dir.path, "sbatch"),
    `#!/bin/sh
cat >${quoted(join(dir.path, "stdin"))}
sbatch "$@" <${quoted(join(dir.path, "stdin"))} &
cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' >${quoted(join(dir.path, "cmdlines"))}
wait "$!"
`,
  );
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      log += chunk.toString();
      done();
    },
  });
  world = await startSlurmWorld({
    target: { commands: { sbatch } },
    log: pino({ level: "trace" }, sink),
    tools: [
      scriptTool(
        "tell",
        `#!/bin/bash -x
env
: "$TAILRACE_ARG_TOKEN" "$TAILRACE_TASK_DIR"
cat "$TAILRACE_TASK_DIR/.tailrace/params.json"
until test -e ${quoted(join(dir.path, "go"))}; do sleep 0.1; done
echo done >result.txt
exit 3
`,
        {
          inputSchema: { type: "object", properties: { token: { type: "string" } } },
          checkArguments: (args) => ({ args }),
          options: { requeue: false },
        },
      ),
    ],
  });
});
afterAll(async () => {
  delete process.env["TAILRACE_TEST_SERVER_SECRET"];
  await world.stop();
  dir.remove();
});

/** Every file below a directory, by its path within it. */
function filesOf(root: string): Map<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [relative(root, path), readFileSync(path, "latin1")];
    }),
  );
}

/** Everything that Slurm shows of a batch job, by the command that shows it. */
async function viewsOf(id: string): Promise<Record<string, string>> {
  const { cluster } = world;
  const argvs: (readonly [string, ...string[]])[] = [
    ["squeue", "-t", "all", `--jobs=${id},${id}`, "-o", "%all"],
    [
      "squeue",
      "-t",
      "all",
      `--jobs=${id},${id}`,
      "-O",
      "Comment:900,Command:900,WorkDir:900,STDOUT:900,AdminComment:900",
    ],
    ["scontrol", "--details", "show", "job", id],
    ["scontrol", "write", "batch_script", id, "-"],
  ];
  if (cluster.hasAccounting) {
    const fields = (await cluster.run(["sacct", "--helpformat"])).trim().split(/\s+/).join(",");
    argvs.push(["sacct", "-P", "-j", id, "-o", fields]);
  }
  const views = await Promise.all(
    argvs.map(async (argv) => [argv.join(" "), await cluster.run(argv)] as const),
  );
  return Object.fromEntries(views);
}

function commandLines(): string {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ");
      } catch {
        return ""; // it has ended
      }
    })
    .join("\n");
}

test("neither task id, key nor arguments show where others look, and the server's environment stays here", async () => {
  const id = await world.start("tell", { token: SECRET, idempotencyKey: KEY });
  const { mark } = await world.record(id);
  const root = join(world.workdir, mark);
  const batchJob = await world.batchJob(id);
  await world.says(id, /^running/, 20_000);
  await eventually(
    () => expect(readFileSync(join(root, ".tailrace/stdout"), "utf8")).toContain(SECRET),
    20_000,
  );
  const whileItRuns = commandLines();
  expect(whileItRuns).toContain(root);
  const views = await viewsOf(batchJob);
  writeFileSync(join(dir.path, "go"), "");
  expect((await world.outcome(id)).outcome).toMatchObject({ kind: "failed", exitCode: 3 });
  const events = (await world.events(id)).map(({ type, payload }) => ({ type, payload }));
  const { result } = await world.call("tasks/get", { taskId: id });
  const afterwards = await viewsOf(batchJob);
  const files = filesOf(root);

  const seenByOthers = {
    ...views,
    ...Object.fromEntries(Object.entries(afterwards).map(([name, text]) => [`${name}, afterwards`, text])),
    "command lines while sbatch runs": readFileSync(join(dir.path, "cmdlines"), "utf8"),
    "command lines while the job runs": whileItRuns,
    "the batch script": readFileSync(join(dir.path, "stdin"), "utf8"),
    "Tailrace's own log": log,
  };
  for (const [where, text] of Object.entries(seenByOthers)) {
    expect(text.length, where).toBeGreaterThan(50);
    for (const secret of [id, KEY, SECRET, OF_SERVER]) expect(text, where).not.toContain(secret);
  }
  // The mark is there by design: it is the job's name.
  expect(Object.values(views)[0]).toContain(mark);

  const told = { ...Object.fromEntries(files), events: JSON.stringify(events) };
  for (const [where, text] of Object.entries(told))
    for (const secret of [id, KEY, OF_SERVER]) expect(text, where).not.toContain(secret);
  // The result links to the task by its id, for whoever holds that already.
  for (const secret of [KEY, OF_SERVER]) expect(JSON.stringify(result)).not.toContain(secret);

  const withArguments = [...files].filter(([, text]) => text.includes(SECRET)).map(([name]) => name);
  expect(withArguments.sort()).toEqual(
    ["env", "params.json", "spec.json", "stderr", "stdout"].map((name) => `.tailrace/${name}`),
  );
  const open = [".", ".tailrace", ...withArguments].filter(
    (name) => (statSync(join(root, name)).mode & 0o077) !== 0,
  );
  expect(open).toEqual([]);
  expect(existsSync(join(root, "work/result.txt"))).toBe(true);
}, 60_000);
