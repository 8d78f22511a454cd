import type { TaskStore } from "../domain/store.ts";
import { fingerprint, openInputs, type Phase, type TaskRecord } from "../domain/task.ts";
import { durationText, isoTime } from "../mcp/words.ts";
import { plainTable, tableLines } from "./display/result.ts";
import { jsonText, shown } from "./display/text.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import type { Shell } from "./shell.ts";
import { type OperatorOptions, withLedger } from "./with-ledger.ts";

export type ListOptions = Omit<OperatorOptions, "target"> & {
  /** Whole task ids: whoever has one can read and cancel the task as its caller. */
  readonly ids?: boolean;
  readonly target?: string;
  readonly phase?: Phase;
  readonly limit: number;
};

/** Tasks of every caller, newest first. */
export async function listTasks(options: ListOptions, shell: Shell): Promise<ExitCode> {
  const { target, ids = false, json = false, ...rest } = options;
  return await withLedger(rest, shell, async ({ store }) => {
    const records = await newest(store, options);
    const nowMs = await store.now();
    const name = ids ? (id: string) => id : fingerprint;
    if (json) for (const record of records) shell.print(jsonText(row(record, name(record.id))));
    else if (records.length === 0) shell.print("no tasks");
    else shell.print(table(records, name, nowMs).join("\n"));
    return EXIT.ok;
  });
}

async function newest(store: TaskStore, { target, phase, limit }: ListOptions): Promise<TaskRecord[]> {
  const targets = target === undefined ? await store.targets() : [target];
  // A filter by phase looks at what was read: it may need more than what it shows.
  const reach = phase === undefined ? limit : Math.max(limit, 10_000);
  const ids = (await Promise.all(targets.map((one) => store.listTarget(one, reach)))).flat();
  const records = [...(await store.readMany(ids)).values()];
  return records
    .filter((record) => phase === undefined || record.phase === phase)
    .sort((a, b) => b.createdAtMs - a.createdAtMs)
    .slice(0, limit);
}

function row(record: TaskRecord, task: string) {
  const { tool, target, phase, owner, outcome } = record;
  return {
    task,
    tool,
    target,
    phase,
    outcome: outcome?.kind ?? null,
    ok: outcome?.ok ?? null,
    cancelling: record.cancel !== null && phase !== "ended",
    inputsOpen: openInputs(record).length,
    owner,
    job: record.job?.id ?? null,
    createdAt: isoTime(record.createdAtMs),
    endedAt: record.endedAtMs === null ? null : isoTime(record.endedAtMs),
  };
}

function table(records: readonly TaskRecord[], name: (id: string) => string, nowMs: number): string[] {
  const rows = plainTable(["task", "tool", "target", "phase", "age", "note"]);
  for (const record of records) {
    const age = durationText(nowMs - record.createdAtMs);
    rows.push([name(record.id), record.tool, record.target, record.phase, age, shown(note(record), 60)]);
  }
  return tableLines(rows);
}

function note(record: TaskRecord): string {
  if (record.outcome !== null) return record.outcome.kind;
  const parts = [
    record.cancel === null ? "" : "cancelling",
    openInputs(record).length === 0 ? "" : "waits for input",
    record.unseen === null ? "" : "out of sight",
    record.reason ?? "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}
