import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { eventually } from "../support/eventually.ts";
import { clusterFromEnv } from "../support/slurm/cluster.ts";
import { writeFront } from "../support/slurm/fronts.ts";
import { slurmDirectory } from "../support/slurm/harness.ts";
import {
  batches,
  beginRound,
  COUNTING_SCRIPT,
  createTable,
  judgeRound,
  ROUNDS,
  type Round,
  releaseOnceKnown,
  type Site,
  type Verdict,
} from "../support/slurm/rounds.ts";
import { scriptTool, startWorld, type World } from "../support/world.ts";

/** Longer than what the hasty targets wait for, shorter than what the patient one does. */
const HANG_MS = 3_000;
const MINUTES = 60_000 * Math.max(2, ROUNDS);

/** By fault: the target that it is done to, and how one sees in the events that a task was hit. */
type Fault = {
  readonly target: string;
  readonly isHit: (verdict: Verdict, goneOnAtMs: number) => boolean;
};
const doubted = (text: RegExp) => (verdict: Verdict) => verdict.doubts.some((doubt) => text.test(doubt));

const WHILE_IT_HANGS: Readonly<Record<string, Fault>> = {
  "the controller hangs for less than the deadline": {
    target: "patient",
    isHit: ({ doubts, submittedAtMs }, goneOnAtMs) => doubts.length === 0 && submittedAtMs >= goneOnAtMs,
  },
  "it hangs for longer than the deadline": { target: "hasty", isHit: doubted(/did not end in time/) },
  "it hangs for longer than Slurm's own MessageTimeout": {
    target: "impatient",
    isHit: doubted(/Socket timed out/),
  },
  "sbatch is killed while it waits": {
    target: "killedWhileItWaits",
    isHit: doubted(/stopped before it answered|failed with exit code 137/),
  },
};

const AT_ANY_TIME: Readonly<Record<string, Fault>> = {
  "sbatch is killed when it has been answered": {
    target: "killedOnceAccepted",
    isHit: doubted(/stopped before it answered/),
  },
  "the answer is lost on the way": { target: "swallowed", isHit: doubted(/told no job id/) },
  "the request arrives when it has been given up": {
    target: "late",
    isHit: ({ left, doubts }) => left === 1 && doubts.length === 1,
  },
};

const cluster = clusterFromEnv();
const directory = slurmDirectory();
const table = createTable(`lost replies, ${ROUNDS} rounds per fault`);
let world: World;
let site: Site;

beforeAll(async () => {
  const startsFile = join(directory.path, "starts");
  writeFileSync(startsFile, "");
  const base = { scheduler: "slurm", slurmConf: cluster.conf, pollSeconds: 1, submitTimeoutSeconds: 8 };
  const fronts = (["killedWhileItWaits", "killedOnceAccepted", "swallowed", "late"] as const).map(
    (name): [string, JsonObject] => [name, { commands: { sbatch: writeFront(directory.path, name) } }],
  );
  const special: Record<string, JsonObject> = {
    patient: { submitTimeoutSeconds: 60 },
    hasty: { submitTimeoutSeconds: 2 },
    impatient: { slurmConf: impatientConf(directory.path) },
    ...Object.fromEntries(fronts),
  };
  const targets: Record<string, { scheduler: string } & JsonObject> = {};
  for (const [name, fields] of Object.entries(special))
    targets[name] = { ...base, workdir: workdirOf(name), ...fields };
  const tools = Object.keys(targets).flatMap((target) => [
    countingTool(target, startsFile, {}),
    countingTool(`${target}-held`, startsFile, { extra: ["--hold"] }),
  ]);
  world = await startWorld({ targets, tools, tuning: { submitTimeoutMs: 6_000 } });
  site = { cluster, startsFile, url: () => world.url };
  // From now on no target needs to ask for the cluster's configuration before it calls sbatch.
  const hanging = Object.values(WHILE_IT_HANGS).map(({ target }) => world.adapters.get(target));
  await Promise.all(hanging.map((adapter) => adapter?.check(AbortSignal.timeout(20_000))));
}, 60_000);

afterAll(async () => {
  await world?.stop();
  await cluster.tryRun(["scancel", "--user=root"]);
  directory.remove();
  table.print();
});

function workdirOf(target: string): string {
  const path = join(directory.workdir, target);
  mkdirSync(path);
  return path;
}

/** The cluster's configuration for a client that waits for an answer for no more than 2 s. */
function impatientConf(dir: string): string {
  const text = readFileSync(cluster.conf, "utf8");
  const path = join(dir, "slurm.conf");
  writeFileSync(path, text.replace(/^MessageTimeout=.*$/m, "MessageTimeout=2"));
  return path;
}

/** Jobs that are held until the task knows them have not begun when they are looked for: the queue must tell of them. */
function countingTool(name: string, startsFile: string, options: JsonObject) {
  return scriptTool(name, COUNTING_SCRIPT, {
    target: name.replace(/-held$/, ""),
    inputSchema: { type: "object", properties: { run: { type: "string" } } },
    env: { STARTS: startsFile },
    solver: "openfoam",
    idempotency: "required",
    // A job that cannot be requeued is over at once.
    options: { requeue: false, ...options },
  });
}

type Begun = { readonly fault: string; readonly round: Round };

/** One batch of rounds per fault, all at once. Every second job waits in the queue when it is looked for. */
async function begin(faults: Readonly<Record<string, Fault>>, numbers: readonly number[]): Promise<Begun[]> {
  const starting = Object.entries(faults).flatMap(([fault, { target }]) =>
    numbers.map(async (number) => {
      const isHeld = number % 2 === 1 && target !== "late";
      const round = await beginRound(site, isHeld ? `${target}-held` : target, `${target}-${number}`);
      const released = isHeld ? releaseOnceKnown(site, round) : Promise.resolve();
      released.catch(() => undefined); // the round does not end then, which is told
      return { fault, round };
    }),
  );
  return await Promise.all(starting);
}

async function judge(
  faults: Readonly<Record<string, Fault>>,
  begun: readonly Begun[],
  goneOnAtMs: number,
): Promise<void> {
  const judged = begun.map(async ({ fault, round }) => {
    const verdict = await judgeRound(site, round);
    const isHit = faults[fault]?.isHit(verdict, goneOnAtMs) ?? false;
    table.add(fault, verdict, isHit);
    return [...verdict.faults, ...(isHit ? [] : [`${round.run} was not hit: ${JSON.stringify(verdict)}`])];
  });
  expect((await Promise.all(judged)).flat()).toEqual([]);
}

/** An attempt is written down right before its sbatch is called. */
function expectCalls(count: number): void {
  for (const { target } of Object.values(WHILE_IT_HANGS)) {
    const workdir = join(directory.workdir, target);
    const called = readdirSync(workdir).filter((mark) =>
      existsSync(join(workdir, mark, ".tailrace/attempt.1")),
    );
    if (called.length !== count)
      throw new Error(`${called.length} of ${count} jobs of ${target} are on their way`);
  }
}

test("a controller that hangs while jobs are submitted leaves each of them started once", {
  timeout: MINUTES,
}, async () => {
  for (const numbers of batches(ROUNDS)) {
    let begun: Begun[] = [];
    let goneOnAtMs = 0;
    await cluster.stop("slurmctld");
    try {
      begun = await begin(WHILE_IT_HANGS, numbers);
      await eventually(() => expectCalls((numbers.at(-1) ?? 0) + 1));
      await delay(HANG_MS);
    } finally {
      goneOnAtMs = Date.now();
      await cluster.cont("slurmctld");
    }
    await judge(WHILE_IT_HANGS, begun, goneOnAtMs);
  }
});

test("an answer of sbatch that is lost, or a request that comes late, leaves each job started once", {
  timeout: MINUTES,
}, async () => {
  for (const numbers of batches(ROUNDS)) await judge(AT_ANY_TIME, await begin(AT_ANY_TIME, numbers), 0);
});
