import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JobRef, Observation, SchedulerAdapter } from "../../src/domain/adapter.ts";
import { BridgeError } from "../../src/domain/errors.ts";
import { submitted, until } from "../contract/scheduler-harness.ts";
import { eventually } from "../support/eventually.ts";
import { markOf, NEVER, quoted, scriptSpec, type TestDirectory, testDirectory } from "../support/jobs.ts";
import { clusterFromEnv } from "../support/slurm/cluster.ts";
import { openSlurm, slurmDirectory } from "../support/slurm/harness.ts";
import { writeProgram } from "../support/slurm/programs.ts";
import { startSlurmWorld } from "../support/slurm/world.ts";
import { scriptTool } from "../support/world.ts";

const cluster = clusterFromEnv();
const COMMANDS = ["sbatch", "squeue", "sacct", "scancel", "scontrol"] as const;

/** What a front does with the real program, as shell text. Its output is in `$out`, its exit code in `$code`. */
const MODES = {
  fine: 'cat "$out"; exit "$code"',
  "cut in the middle of a line": 'head -c -7 "$out"; exit "$code"',
  "cut in the middle of an earlier line": 'head -c "$(($(wc -c <"$out") / 2))" "$out"; exit "$code"',
  "without its last lines": 'head -n -1 "$out"; exit "$code"',
  "without any line": 'exit "$code"',
  "behind a banner":
    'echo "Welcome to 42 nodes of joy"; echo "*** maintenance ***" >&2; cat "$out"; exit "$code"',
  "before a banner": 'cat "$out"; echo "quota: 12 % of 3,5 TB"; echo "sbatch: note" >&2; exit "$code"',
  "with its lines run into each other": 'tr -d "\\n" <"$out"; echo; exit "$code"',
  "with another separator": 'tr "\\037" "|" <"$out"; exit "$code"',
  "with another locale's digits": `sed -E 's/([0-9])([0-9]{3})\\b/\\1,\\2/g' "$out"; exit "$code"`,
  "with other words for states": 'sed -E "s/RUNNING|PENDING|FAILED/LÄUFT/" "$out"; exit "$code"',
  "as binary garbage": 'head -c 5000 /dev/urandom; exit "$code"',
  "as a web page": 'echo "<html><body>502 Bad Gateway 12345</body></html>"; exit 0',
  "as a usage text": 'echo "Usage: command [OPTIONS]" >&2; exit 2',
  "with a failure": 'cat "$out"; exit 1',
  "with a crash": 'kill -SEGV "$$"',
  "without an end": 'cat "$out"; yes "1 2 3"',
  "too late": 'sleep 20; cat "$out"; exit "$code"',
} as const;
type Mode = keyof typeof MODES;
const BAD = Object.keys(MODES).filter((mode): mode is Mode => mode !== "fine");

/** Fronts for all commands that do what `set` said last. */
function writeFronts(dir: string): { readonly commands: Record<string, string>; set(mode: Mode): void } {
  const script = join(dir, "mode");
  const set = (mode: Mode) => writeFileSync(script, `${MODES[mode]}\n`);
  set("fine");
  const commands = Object.fromEntries(
    COMMANDS.map((name) => [
      name,
      writeProgram(
        join(dir, name),
        `#!/bin/sh\nout=$(mktemp ${quoted(join(dir, "out.XXXXXX"))})\n${name} "$@" >"$out"\ncode=$?\n. ${quoted(script)}\n`,
      ),
    ]),
  );
  return { commands, set };
}

let dir: TestDirectory;
let jobs: ReturnType<typeof slurmDirectory>;
let fronts: ReturnType<typeof writeFronts>;
let plain: SchedulerAdapter;
/** It knows the cluster's configuration, as a server that has run for a while does. */
let fronted: SchedulerAdapter;
beforeAll(async () => {
  dir = testDirectory();
  jobs = slurmDirectory();
  fronts = writeFronts(dir.path);
  plain = openSlurm(jobs.workdir);
  fronted = openFronted();
  await submitted(fronted, { mark: markOf("test"), attempt: 1, spec: HELD });
});
afterAll(async () => {
  for (const one of [plain, fronted]) await one.close();
  await cluster.run(["scancel", "--user=root"]);
  for (const one of [dir, jobs]) one.remove();
});

const openFronted = () =>
  openSlurm(jobs.workdir, {
    target: { commands: fronts.commands, queryTimeoutSeconds: 1, submitTimeoutSeconds: 1 },
  });
const ONCE = { requeue: false };
const HANG = scriptSpec("while :; do sleep 0.1; done\n", { options: ONCE });
const HELD = scriptSpec("true\n", { options: { extra: ["--hold"] } });

/** What the adapter answers, or the fault that it throws. Nothing else may come out. */
async function tried<T>(work: Promise<T>): Promise<T | BridgeError> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof BridgeError) return error;
    throw error;
  }
}

test("no garbage of squeue and sacct ends a job, and the first right answer is believed", async () => {
  const send = (spec: typeof HANG) => submitted(plain, { mark: markOf("test"), attempt: 1, spec });
  const running = await send(HANG);
  const held = await send(HELD);
  const failed = await send(scriptSpec("exit 3\n", { options: ONCE }));
  await until(plain, running, "running", 20_000);
  await until(plain, failed, "ended", 20_000);
  const refs = [running, held, failed];
  const allowed = new Map<JobRef, (seen: Observation) => boolean>([
    [running, ({ kind }) => kind === "running" || kind === "unknown"],
    [held, ({ kind }) => kind === "held" || kind === "unknown"],
    [failed, (seen) => seen.kind === "unknown" || (seen.kind === "ended" && seen.end.exitCode === 3)],
  ]);
  for (const mode of BAD) {
    const adapter = openFronted();
    fronts.set(mode);
    const seen = await tried(adapter.observe(refs, NEVER));
    if (!(seen instanceof BridgeError))
      for (const [ref, isAllowed] of allowed) {
        const one = seen.get(ref.id);
        if (one === undefined || !isAllowed(one)) throw new Error(`${mode}: ${JSON.stringify(one)}`);
      }
    fronts.set("fine");
    const again = await adapter.observe(refs, NEVER);
    expect(
      refs.map((ref) => again.get(ref.id)?.kind),
      mode,
    ).toEqual(["running", "held", "ended"]);
    await adapter.close();
  }
}, 60_000);

test.each(BAD)("an answer of sbatch %s leaves one job, and it is found", async (mode) => {
  const adapter = fronted;
  const request = { mark: markOf("test"), attempt: 1, spec: HELD };
  fronts.set(mode);
  const first = await tried(adapter.submit(request, NEVER));
  fronts.set("fine");
  if (!(first instanceof BridgeError)) expect(first.kind).toBe("submitted");
  const job = await eventually(async () => {
    const found = (await adapter.locate([request.mark], NEVER)).get(request.mark);
    if (found === null || found === undefined) throw new Error(`${mode}: it is not found`);
    return found;
  });
  expect(await submitted(adapter, request)).toEqual(job);
  const rows = await cluster.run(["squeue", "-h", `--name=${request.mark}`, "-o", "%i"]);
  expect(rows).toBe(`${job.id}\n`);
  await adapter.cancel(job, NEVER);
});

/** A cancel looks first, and what it sees then is what the tests above have seen. */
const AMID: readonly Mode[] = [
  "without its last lines",
  "without any line",
  "as a web page",
  "with a failure",
  "too late",
];

test.each(AMID)("a cancel amid answers %s never says that the job has ended", async (mode) => {
  const adapter = openFronted();
  const job = await submitted(plain, { mark: markOf("test"), attempt: 1, spec: HANG });
  fronts.set(mode);
  const answer = await tried(adapter.cancel(job, NEVER));
  fronts.set("fine");
  if (!(answer instanceof BridgeError)) expect(answer).not.toBe("already_ended");
  await eventually(async () => expect(await adapter.cancel(job, NEVER)).toMatch(/asked|already_ended/));
  await adapter.close();
});

test("tasks come through ten seconds of every garbage, and each script runs once", async () => {
  const starts = join(dir.path, "starts");
  const world = await startSlurmWorld({
    target: { commands: fronts.commands, queryTimeoutSeconds: 1, submitTimeoutSeconds: 2 },
    tuning: { submitTimeoutMs: 3_000, leaseMarginMs: 200 },
    tools: [
      scriptTool(
        "count",
        `#!/bin/sh\necho "$TAILRACE_ARG_N" >>${quoted(starts)}\nsleep "$TAILRACE_ARG_N"\nexit 4\n`,
        {
          options: ONCE,
          inputSchema: { type: "object", properties: { n: { type: "number" } } },
        },
      ),
    ],
  });
  try {
    const ids: string[] = [];
    for (const [index, mode] of BAD.entries()) {
      fronts.set(mode);
      if (index % 3 === 0) ids.push(await world.start("count", { n: index / 4 }));
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    for (const id of ids) expect((await world.record(id)).outcome).toBeNull();
    fronts.set("fine");
    for (const id of ids)
      expect((await world.outcome(id, 60_000)).outcome, JSON.stringify(await world.record(id))).toMatchObject(
        { kind: "failed", exitCode: 4 },
      );
  } finally {
    fronts.set("fine");
    await world.stop();
  }
}, 120_000);
