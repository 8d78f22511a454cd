import { dutiesOf, dutyMember } from "../domain/duties.ts";
import type { TaskEvent } from "../domain/event.ts";
import { parseEventText, type StoredTask, type TaskStore } from "../domain/store.ts";
import type { TaskRecord } from "../domain/task.ts";
import { outcomeLine } from "../mcp/outcome-text.ts";
import { isoTime } from "../mcp/words.ts";
import { eventText } from "./display/event-line.ts";
import { jsonText, shown } from "./display/text.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { CliFailure } from "./failure.ts";
import type { Shell } from "./shell.ts";
import { type OperatorOptions, withLedger } from "./with-ledger.ts";

export type ShowOptions = OperatorOptions & { readonly args?: boolean; readonly events: number };

/** Everything that the store knows about one task; its arguments only when asked for. */
export async function showTask(taskId: string, options: ShowOptions, shell: Shell): Promise<ExitCode> {
  return await withLedger(options, shell, async ({ store }) => {
    const stored = await readTask(store, taskId);
    const events = await newestEvents(store, stored, options.events);
    const spec = options.args === true ? await store.readSpec(taskId) : null;
    const args = spec === null ? null : spec.args;
    if (options.json === true) {
      const { record, progress, nextSeq } = stored;
      const shownArgs = options.args === true ? { args } : {};
      shell.print(jsonText({ record, duties: duties(record), progress, nextSeq, events, ...shownArgs }));
    } else {
      const rows = [
        ...recordRows(stored),
        ...(args === null ? [] : [["arguments", jsonText(args)] as const]),
      ];
      for (const [name, value] of rows) shell.print(`${name.padEnd(10)} ${value}`);
      for (const event of events) shell.print(`  #${event.seq}  ${eventText(event)}`);
    }
    return EXIT.ok;
  });
}

export async function readTask(store: TaskStore, taskId: string): Promise<StoredTask> {
  const stored = await store.read(taskId);
  if (stored !== null) return stored;
  throw new CliFailure(
    `there is no task ${shown(taskId, 140)} in this store, or its time is over: "tailrace list --ids" shows what there is`,
  );
}

async function newestEvents(
  store: TaskStore,
  { record, nextSeq }: StoredTask,
  count: number,
): Promise<TaskEvent[]> {
  if (count === 0) return [];
  const after = nextSeq - 1 - count;
  const events: TaskEvent[] = [];
  for (let cursor: number | null = after < 0 ? null : after; ; ) {
    const page = await store.readEvents(record.id, cursor, count);
    if (page === null || page.events.length === 0) return events.slice(-count);
    for (const [index, text] of page.events.entries())
      events.push(parseEventText(page.firstSeq + index, text));
    cursor = page.firstSeq + page.events.length - 1;
  }
}

function recordRows({ record, progress, nextSeq }: StoredTask): (readonly [string, string])[] {
  const { job, outcome, cancel, unseen } = record;
  const rows: [string, string | null][] = [
    ["task", record.id],
    ["tool", `${record.tool} on ${record.target}`],
    ["phase", `${record.phase}${record.reason === null ? "" : ` (${shown(record.reason)})`}`],
    ["outcome", outcome === null ? null : outcomeLine(record)],
    ["basis", outcome === null ? null : shown(outcome.basis.join(", "))],
    ["caller", record.owner],
    ["job", job === null ? null : `${shown(job.id)}, attempt ${job.attempt}, requeues ${record.life}`],
    ["mark", record.mark],
    ["nodes", record.nodes.length === 0 ? null : shown(record.nodes.join(", "))],
    ["progress", progress?.text ?? null],
    ["created", isoTime(record.createdAtMs)],
    ["started", timeOf(record.startedAtMs)],
    ["ended", timeOf(record.endedAtMs)],
    ["expires", isoTime(record.expiresAtMs)],
    ["cancel", cancel === null ? null : `asked ${isoTime(cancel.atMs)}`],
    [
      "unseen",
      unseen === null
        ? null
        : `since ${isoTime(unseen.sinceMs)}, ${unseen.looks} looks: ${shown(unseen.why)}`,
    ],
    ["inputs", record.inputs.length === 0 ? null : inputsText(record)],
    ["duties", duties(record).length === 0 ? null : duties(record).join(", ")],
    ["events", String(nextSeq)],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [[name, shown(value, 400)] as const]));
}

function duties(record: TaskRecord): string[] {
  return dutiesOf(record).map((duty) => dutyMember(record.id, duty).split(":")[0] ?? duty.kind);
}

function inputsText({ inputs }: TaskRecord): string {
  return inputs
    .map(({ key, answeredAtMs }) => `${key} (${answeredAtMs === null ? "open" : "answered"})`)
    .join(", ");
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}
