import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type { JsonObject } from "../../../src/domain/json.ts";
import { eventually } from "../eventually.ts";
import { createTask, eventOf, followEvents, readAgain, resultOf, seqOf } from "../stubborn-client.ts";
import type { Cluster } from "./cluster.ts";

/** Rounds per fault: few by default, 20 for the figures. */
export const ROUNDS = Number(process.env["TAILRACE_ROUNDS"] ?? 4);
/** A target submits this many jobs at a time, so that as many can be hit at once. */
const BATCH = 4;
const STEPS = 12;
/** The queue remembers the jobs of earlier runs, and the same key would make the same mark. */
const THIS_RUN = randomBytes(4).toString("hex");
/** The wrapper's exit code of a batch job that found its claim taken. */
const LEFT = 76;

/** Counts its start in `$STARTS`, prints a start line and residuals, and ends well. */
export const COUNTING_SCRIPT = `#!/bin/sh
echo "$TAILRACE_ARG_RUN $SLURM_JOB_ID" >> "$STARTS"
echo "start of $TAILRACE_ARG_RUN"
step=0
while [ "$step" -lt ${STEPS} ]; do
  step=$((step + 1))
  echo "Time = $step"
  echo "DICPCG:  Solving for p, Initial residual = 0.$step, Final residual = 1e-07, No Iterations $step"
  sleep 0.05
done
echo End
`;

/** Where rounds are made. `url` is asked anew at each call. */
export type Site = {
  readonly cluster: Cluster;
  readonly startsFile: string;
  url(): string;
};

export type Round = {
  readonly tool: string;
  readonly run: string;
  readonly taskId: string;
  readonly beganAt: number;
  /** Payloads of the task's events of a type so far, without the prefix. */
  seen(type: string): JsonObject[];
  /** Resolves when the task has ended. */
  readonly done: Promise<void>;
};

/** One task, its create sent three times at once by a caller who does not wait for the answer. */
export async function beginRound(site: Site, tool: string, name: string): Promise<Round> {
  const run = `${name}-${THIS_RUN}`;
  const beganAt = performance.now();
  const create = () => createTask(site.url, tool, { run, idempotencyKey: run });
  const ids = (await Promise.all([create(), create(), create()])).map((task) => String(task["taskId"]));
  const [taskId = ""] = ids;
  if (new Set(ids).size !== 1) throw new Error(`one key made several tasks: ${ids.join(" ")}`);
  const reader = followEvents(site.url, taskId);
  const seen = (type: string) =>
    reader.texts
      .map(eventOf)
      .filter((event) => event.type === type)
      .map(({ payload }) => payload);
  return { tool, run, taskId, beganAt, seen, done: reader.done };
}

/** Lets a job go that was submitted with --hold, as soon as the task knows it. */
export async function releaseOnceKnown(site: Site, round: Round): Promise<void> {
  const id = await eventually(() => {
    const [payload] = round.seen("job.submitted");
    if (payload === undefined) throw new Error(`${round.run} has no job`);
    return String(payload["jobId"]);
  }, 60_000);
  await site.cluster.run(["scontrol", "release", id]);
}

/** What became of one round. `faults`: everything that is wrong; empty when nothing is. */
export type Verdict = {
  readonly starts: number;
  /** Further batch jobs of the mark that found the claim taken and left. */
  readonly left: number;
  readonly seconds: number;
  /** What the task said while it did not know what had become of an attempt. */
  readonly doubts: readonly string[];
  readonly submittedAtMs: number;
  /** The one whose job it was. */
  readonly attempt: number;
  readonly faults: readonly string[];
};

/** Waits for the task's end and holds it against "once and only once". */
export async function judgeRound(site: Site, round: Round): Promise<Verdict> {
  const { tool, run, taskId } = round;
  await round.done;
  const seconds = (performance.now() - round.beganAt) / 1000;
  const texts = await readAgain(site.url, taskId);
  const events = texts.map(eventOf);
  const payloads = (type: string) =>
    events.filter((event) => event.type === type).map(({ payload }) => payload);
  const doc = await resultOf(site.url, "tasks/get", { taskId });
  const again = await createTask(site.url, tool, { run, idempotencyKey: run });
  const log = await logOf(site, taskId);
  const starts = startsOf(site, run);
  const [submitted = {}] = payloads("job.submitted");
  const jobId = String(submitted["jobId"]);
  const others = await otherJobs(site, jobId);
  const checks: [boolean, string][] = [
    [starts.length === 1, `the script was started ${starts.length} times: ${starts.join(", ")}`],
    [starts[0] === jobId, `batch job ${starts[0]} ran, the task knows ${jobId}`],
    [log === expectedLog(run), `log ${JSON.stringify(log)}`],
    [outcomeOf(doc) === "completed succeeded 0", `it came to ${outcomeOf(doc)}: ${JSON.stringify(doc)}`],
    [again["taskId"] === taskId, "its key leads to another task"],
    [texts.every((text, index) => seqOf(text) === index), `seq is not dense: ${texts.map(seqOf).join(" ")}`],
    ...["task.accepted", "job.submitted", "job.started", "job.ended", "task.ended"].map(
      (type): [boolean, string] => [payloads(type).length === 1, `${payloads(type).length} events ${type}`],
    ),
    [events.at(-1)?.type === "task.ended", `the last event is ${events.at(-1)?.type}`],
    ...others.map((job): [boolean, string] => [
      job.exitCode === LEFT || !job.started,
      `batch job ${job.id} of the same mark is ${job.state}, exit code ${job.exitCode}`,
    ]),
  ];
  return {
    starts: starts.length,
    left: others.filter(({ exitCode }) => exitCode === LEFT).length,
    seconds,
    doubts: payloads("task.status").map((payload) => String(payload["message"])),
    submittedAtMs: Date.parse(String(submitted["at"])),
    attempt: Number(submitted["attempt"]),
    faults: checks.filter(([isRight]) => !isRight).map(([, fault]) => `${run}: ${fault}`),
  };
}

function startsOf(site: Site, run: string): string[] {
  return readFileSync(site.startsFile, "utf8")
    .split("\n")
    .filter((line) => line.startsWith(`${run} `))
    .map((line) => line.slice(run.length + 1));
}

async function logOf(site: Site, taskId: string): Promise<string> {
  const { contents } = (await resultOf(site.url, "resources/read", {
    uri: `tailrace://task/${taskId}/log`,
  })) as unknown as { contents: readonly { text: string }[] };
  return contents.map(({ text }) => text).join("");
}

function expectedLog(run: string): string {
  const steps = Array.from({ length: STEPS }, (_, index) => index + 1).map(
    (step) =>
      `Time = ${step}\nDICPCG:  Solving for p, Initial residual = 0.${step}, Final residual = 1e-07, No Iterations ${step}\n`,
  );
  return [`start of ${run}\n`, ...steps, "End\n"].join("");
}

function outcomeOf(doc: JsonObject): string {
  const { structuredContent } = (doc["result"] ?? {}) as {
    structuredContent?: { outcome?: { kind: string; exitCode: number | null } };
  };
  const { kind, exitCode } = structuredContent?.outcome ?? { kind: "nothing", exitCode: null };
  return `${String(doc["status"])} ${kind} ${exitCode}`;
}

type BatchJob = {
  readonly id: string;
  readonly state: string;
  readonly exitCode: number;
  readonly started: boolean;
};

const LIVE = /^(PENDING|CONFIGURING|RUNNING|SUSPENDED|COMPLETING|STOPPED|SPECIAL_EXIT|REQUEUE.*)$/;

/** Every other batch job of the same name, once none of that name lives. */
async function otherJobs({ cluster }: Site, id: string): Promise<BatchJob[]> {
  const format = ["JobID", "Name", "State", "exit_code", "NodeList"].map((field) => `${field}:|`).join(",");
  const all = ["squeue", "--noheader", "--states=all"] as const;
  const [known] = parseJobs(await cluster.run([...all, `--jobs=${id},${id}`, `--Format=${format}`]));
  if (known === undefined) throw new Error(`the queue does not know batch job ${id}`);
  return await eventually(async () => {
    const jobs = parseJobs(await cluster.run([...all, `--name=${known.name}`, `--Format=${format}`]));
    const live = jobs.filter(({ state }) => LIVE.test(state));
    if (live.length > 0) throw new Error(`still in the queue: ${JSON.stringify(live)}`);
    return jobs.filter((job) => job.id !== id);
  }, 20_000);
}

function parseJobs(stdout: string): (BatchJob & { readonly name: string })[] {
  return stdout
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [id = "", name = "", state = "", exit = "", nodes = ""] = line
        .split("|")
        .map((part) => part.trim());
      // A raw wait status before Slurm 24.11, code and signal since.
      const exitCode = exit.includes(":") ? Number(exit.split(":")[0]) : Number(exit) >> 8;
      return { id, name, state, exitCode, started: nodes !== "" };
    });
}

/** Round numbers in batches that a target submits at once. */
export function batches(rounds: number): number[][] {
  const numbers = Array.from({ length: rounds }, (_, index) => index);
  return Array.from({ length: Math.ceil(rounds / BATCH) }, (_, index) =>
    numbers.slice(index * BATCH, (index + 1) * BATCH),
  );
}

/** What was found, by fault. */
export function createTable(title: string) {
  const rows = new Map<string, { hits: number; verdicts: Verdict[] }>();
  return {
    add(fault: string, verdict: Verdict, isHit: boolean): void {
      const row = rows.get(fault) ?? { hits: 0, verdicts: [] };
      row.hits += isHit ? 1 : 0;
      row.verdicts.push(verdict);
      rows.set(fault, row);
    },
    hits: (fault: string) => rows.get(fault)?.hits ?? 0,
    print(): void {
      const lines = [...rows].map(([fault, { hits, verdicts }]) => {
        const sum = (pick: (verdict: Verdict) => number) =>
          verdicts.reduce((total, verdict) => total + pick(verdict), 0);
        const starts = sum((verdict) => verdict.starts);
        const left = sum((verdict) => verdict.left);
        const seconds = (sum((verdict) => verdict.seconds) / verdicts.length).toFixed(1);
        return `${fault}: ${verdicts.length} rounds, ${hits} hits, ${starts} starts, ${left} left with ${LEFT}, ${seconds} s a round`;
      });
      process.stdout.write(`${[title, ...lines].join("\n")}\n`);
    },
  };
}
