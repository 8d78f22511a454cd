import type { JsonObject } from "../../src/domain/json.ts";
import { eventually } from "./eventually.ts";
import { type Moments, watchPhases } from "./moments.ts";
import { createTask, eventOf, followEvents, readAgain, resultOf } from "./stubborn-client.ts";
import { killPid, type Topology } from "./topology.ts";

export const VICTIMS = ["server", "worker", "redis"] as const;
export type Victim = (typeof VICTIMS)[number];
const FILES = 60;

/**
 * Prints a line each 50 ms, then leaves many files, so that every phase lasts long enough to be hit. Exit code 3. `gate`
 * is shell text that runs between the two.
 */
export function crashTool(lines: number, gate = ":"): JsonObject {
  return {
    input: { run: { type: "string" } },
    run: {
      script: `#!/bin/sh
echo "$TAILRACE_ARG_RUN" >> "$STARTS"
step=0
while [ "$step" -lt ${lines} ]; do
  step=$((step + 1))
  echo "step $step of ${lines}"
  sleep 0.05
done
${gate}
file=0
while [ "$file" -lt ${FILES} ]; do
  file=$((file + 1))
  echo "content $file" > "part-$file.dat"
done
truncate -s 1M part-*.dat
exit 3
`,
    },
    outputs: ["*.dat"],
    idempotency: "required",
    resources: { walltime: "2m" },
  };
}

export function expectedLog(lines: number): string {
  return Array.from({ length: lines }, (_, index) => `step ${index + 1} of ${lines}\n`).join("");
}

/** What one task came to: what must not depend on who was killed meanwhile. */
export type CrashReport = {
  readonly taskId: string;
  readonly exitCode: unknown;
  /** sha256 by name. */
  readonly artifacts: Readonly<Record<string, string>>;
  readonly log: string;
  /** Raw texts as the reader saw them over all breaks, and as one uninterrupted stream gave them afterwards. */
  readonly followed: readonly string[];
  readonly reread: readonly string[];
  readonly breaks: number;
  readonly starts: number;
  /** tasks/get after the end. */
  readonly doc: JsonObject;
  readonly created: JsonObject;
};

/** Runs a task to its end; `disturb` does its worst meanwhile. */
export async function runTask(
  topology: Topology,
  run: string,
  disturb: (moment: Moments) => Promise<void>,
): Promise<CrashReport> {
  const url = () => topology.server.url();
  const disturbed = disturb(watchPhases(topology, "job", run));
  const work = async () => {
    const created = await createTask(url, "job", { run, idempotencyKey: run });
    const taskId = String(created["taskId"]);
    const reader = followEvents(url, taskId);
    await reader.done;
    return { created, taskId, reader };
  };
  const [{ created, taskId, reader }] = await Promise.all([work(), disturbed]);
  const doc = await resultOf(url, "tasks/get", { taskId });
  const reread = await readAgain(url, taskId);
  const log = await resultOf(url, "resources/read", { uri: `tailrace://task/${taskId}/log` });
  const again = await createTask(url, "job", { run, idempotencyKey: run });
  if (again["taskId"] !== taskId)
    throw new Error(`the key now leads to another task: ${JSON.stringify(again)}`);
  return {
    taskId,
    ...resultsOf(doc),
    log: textOf(log),
    followed: reader.texts,
    reread,
    breaks: reader.breaks(),
    starts: topology.starts(run),
    doc,
    created,
  };
}

/** SIGKILL, and up again at once. Redis is started again by the guards of those who use it. */
export async function killAndRestart(topology: Topology, victim: Victim, redisPid: number): Promise<void> {
  if (victim === "redis") {
    await killPid(redisPid);
    await eventually(() => topology.observer.ping());
    return;
  }
  const { [victim]: process } = topology;
  await process.kill();
  await process.start();
}

function resultsOf(doc: JsonObject): Pick<CrashReport, "exitCode" | "artifacts"> {
  const { structuredContent: content } = (doc["result"] ?? {}) as {
    structuredContent?: {
      outcome: { exitCode: unknown } | null;
      artifacts: readonly { name: string; sha256: string }[];
    };
  };
  if (content === undefined) throw new Error(`no result: ${JSON.stringify(doc)}`);
  return {
    exitCode: content.outcome?.exitCode,
    artifacts: Object.fromEntries(content.artifacts.map(({ name, sha256 }) => [name, sha256])),
  };
}

function textOf(read: JsonObject): string {
  const { contents } = read as unknown as { contents: readonly { text: string }[] };
  return contents.map(({ text }) => text).join("");
}

/** Events that happen once in the life of every task whose job ran once and was never requeued. */
const ONCE = ["task.accepted", "job.submitted", "job.started", "job.ended", "task.ended"];

/** Everything that is wrong with a report, compared with an undisturbed one; empty when nothing is. */
export function faultsOf(report: CrashReport, reference: CrashReport): string[] {
  const { followed, reread } = report;
  const events = reread.map(eventOf);
  const seqs = reread.map((text) => (JSON.parse(text) as { params: { seq: number } }).params.seq);
  const named = events
    .filter(({ type }) => type === "artifact.created")
    .map(({ payload }) => payload["name"]);
  const checks: [boolean, string][] = [
    [report.doc["status"] === "completed", `the task is ${JSON.stringify(report.doc["status"])}`],
    [
      followed.join("\n") === reread.join("\n"),
      `the reader saw ${followed.length} events, there are ${reread.length}`,
    ],
    [seqs.every((seq, index) => seq === index), `seq is not dense: ${seqs.join(" ")}`],
    [report.starts === 1, `the script was started ${report.starts} times`],
    [report.exitCode === reference.exitCode, `exit code ${JSON.stringify(report.exitCode)}`],
    [same(report.artifacts, reference.artifacts), `artifacts ${JSON.stringify(report.artifacts)}`],
    [same(sorted(named), sorted(Object.keys(reference.artifacts))), `artifact events ${named.join(" ")}`],
    [report.log === reference.log, `log ${JSON.stringify(report.log)}`],
    [report.created["createdAt"] === report.doc["createdAt"], "createdAt has changed"],
    ...ONCE.map((type): [boolean, string] => {
      const times = events.filter((event) => event.type === type).length;
      return [times === 1, `${times} events ${type}`];
    }),
    [events[0]?.type === "task.accepted", `the first event is ${events[0]?.type}`],
    [events.at(-1)?.type === "task.ended", `the last event is ${events.at(-1)?.type}`],
  ];
  return checks.filter(([isRight]) => !isRight).map(([, complaint]) => complaint);
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function sorted(values: readonly unknown[]): string[] {
  return values.map(String).sort();
}
