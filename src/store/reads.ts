import { z } from "zod";
import { JobSpec } from "../domain/adapter.ts";
import { Json, JsonObject } from "../domain/json.ts";
import type { EventPage, FollowState, Glance, StoredTask } from "../domain/store.ts";
import { TaskRecord } from "../domain/task.ts";
import type { Progress } from "../domain/translator.ts";
import type { StoreContext } from "./context.ts";
import { parseStored, replyRow, required, requiredNumber } from "./reply.ts";
import { TAKE_OVER } from "./scripts/follow.lua.ts";
import { READ_EVENTS, READ_FIELDS, READ_RECORDS } from "./scripts/read.lua.ts";
import { runScript } from "./scripts/script.ts";

/** A page ends before this many bytes of event text (one event at least), so that no reply stalls the server. */
const PAGE_BYTES = 256 * 1024;
/** Records that one script call reads. */
const READ_BATCH = 200;

const StoredProgress: z.ZodType<Progress> = z.object({
  text: z.string().nullable(),
  current: z.number().nullable(),
  total: z.number().nullable(),
  unit: z.string().nullable(),
  etaSeconds: z.number().nullable(),
  metrics: JsonObject,
});

export async function readTask(context: StoreContext, taskId: string): Promise<StoredTask | null> {
  const row = await readFields(context, taskId, ["rec", "prog", "n", "fe"]);
  if (row === null) return null;
  const [record, progress, next, epoch] = row;
  return {
    record: parseRecord(required(record, "rec")),
    progress: progress ? parseStored(StoredProgress, progress, "progress") : null,
    nextSeq: requiredNumber(next, "n"),
    epoch: Number(epoch ?? 0),
  };
}

export async function readRecords(
  context: StoreContext,
  taskIds: readonly string[],
): Promise<Map<string, TaskRecord>> {
  const records = new Map<string, TaskRecord>();
  for (let from = 0; from < taskIds.length; from += READ_BATCH) {
    const ids = taskIds.slice(from, from + READ_BATCH);
    const keys = ids.map(context.keys.task);
    const texts = replyRow(await runScript(context.commands, READ_RECORDS, { keys, argv: [] })) ?? [];
    for (const [index, id] of ids.entries()) {
      const text = texts[index];
      if (text) records.set(id, parseRecord(text));
    }
  }
  return records;
}

export async function readSpec(context: StoreContext, taskId: string): Promise<JobSpec | null> {
  const row = await readFields(context, taskId, ["spec"]);
  return row === null ? null : parseStored(JobSpec, required(row[0], "spec"), "spec");
}

export async function glance(context: StoreContext, taskId: string): Promise<Glance | null> {
  const row = await readFields(context, taskId, ["ow", "ph", "doc", "prog", "pat"]);
  if (row === null) return null;
  const [owner, phase, doc, progress, progressAtMs, nowMs] = row;
  return {
    owner: required(owner, "ow"),
    ended: phase === "ended",
    doc: required(doc, "doc"),
    progress: progress ? `{"atMs":${required(progressAtMs, "pat")},${progress.slice(1)}` : null,
    nowMs: requiredNumber(nowMs, "now"),
  };
}

export async function readEvents(
  context: StoreContext,
  taskId: string,
  range: { after: number | null; limit: number },
): Promise<EventPage | null> {
  const reply = await runScript(context.commands, READ_EVENTS, {
    keys: [context.keys.task(taskId), context.keys.events(taskId)],
    argv: [range.after ?? "", range.limit, PAGE_BYTES],
  });
  const row = replyRow(reply);
  if (row === null) return null;
  const [owner, phase, next, earliest, first, ...events] = row;
  return {
    owner: required(owner, "ow"),
    events: events.map((text) => required(text, "event")),
    firstSeq: requiredNumber(first, "first seq"),
    earliestSeq: requiredNumber(earliest, "f"),
    nextSeq: requiredNumber(next, "n"),
    ended: phase === "ended",
  };
}

export async function takeOver(context: StoreContext, taskId: string): Promise<FollowState | null> {
  const keys = [context.keys.task(taskId)];
  const row = replyRow(await runScript(context.commands, TAKE_OVER, { keys, argv: [] }));
  if (row === null) return null;
  const [epoch, record, spec, cursor, snapshot] = row;
  return {
    epoch: requiredNumber(epoch, "fe"),
    record: parseRecord(required(record, "rec")),
    spec: parseStored(JobSpec, required(spec, "spec"), "spec"),
    cursor: required(cursor, "cur"),
    snapshot: snapshot ? parseStored(Json, snapshot, "snapshot") : null,
  };
}

async function readFields(
  context: StoreContext,
  taskId: string,
  fields: readonly string[],
): Promise<(string | null)[] | null> {
  const keys = [context.keys.task(taskId)];
  return replyRow(await runScript(context.commands, READ_FIELDS, { keys, argv: fields }));
}

function parseRecord(text: string): TaskRecord {
  return parseStored(TaskRecord, text, "record");
}
