import type { JsonObject } from "../domain/json.ts";
import type { Glance } from "../domain/store.ts";
import { hasEnded, openInputs, type TaskRecord } from "../domain/task.ts";
import type { Created } from "../tasks/create.ts";
import { callToolResult } from "./call-result.ts";
import { type LiveHead, type LiveProgress, liveHead, liveMessage, pollIntervalMs } from "./live-message.ts";
import { outcomeLine } from "./outcome-text.ts";
import { META, RPC } from "./protocol.ts";
import { isoTime } from "./words.ts";

/** MCP's words for a task. Nothing else in the product spells them. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** What a finished document needs from whoever answers. */
export type Finishing = {
  /** JSON text of this server's serverInfo. */
  readonly serverInfo: string;
  readonly isTargetKnown: (target: string) => boolean;
};

const ENDED_POLL_MS = 1000;

export function taskStatus(record: TaskRecord): TaskStatus {
  if (!hasEnded(record)) return openInputs(record).length > 0 ? "input_required" : "working";
  // Only a bridge that could not carry on fails; a job that went wrong has completed, with isError in its result.
  if (record.outcome?.kind === "lost") return "failed";
  return record.outcome?.kind === "cancelled" ? "cancelled" : "completed";
}

/**
 * The text that the store keeps of a record and `glance` hands out. Ended: the whole tasks/get result but for `_meta`,
 * which names whoever answers. Live: a line of JSON with what the message is made of, then the result, open at its end.
 */
export function renderTask(record: TaskRecord): string {
  const fixed = { resultType: "complete", ...fixedFields(record) };
  if (hasEnded(record)) return JSON.stringify({ ...fixed, ...endedFields(record) });
  const inputs = openInputs(record);
  const asked = inputs.length === 0 ? {} : { inputRequests: inputRequests(record) };
  return `${JSON.stringify(liveHead(record))}\n${JSON.stringify({ ...fixed, ...asked }).slice(0, -1)}`;
}

/** The tasks/get result as JSON text. Of the document itself nothing is parsed and nothing serialised. */
export function finishDoc(glance: Glance, { serverInfo, isTargetKnown }: Finishing): string {
  const meta = `,"_meta":{"${META.serverInfo}":${serverInfo}}}`;
  if (glance.ended) return glance.doc.slice(0, -1) + meta;
  const split = glance.doc.indexOf("\n");
  const head = JSON.parse(glance.doc.slice(0, split)) as LiveHead;
  const progress = glance.progress === null ? null : (JSON.parse(glance.progress) as LiveProgress);
  const { statusMessage, lastUpdatedAt, pollIntervalMs } = liveFields(head, progress, {
    nowMs: glance.nowMs,
    isTargetKnown: isTargetKnown(head.target),
  });
  return `${glance.doc.slice(split + 1)},"statusMessage":${JSON.stringify(statusMessage)},"lastUpdatedAt":"${lastUpdatedAt}","pollIntervalMs":${pollIntervalMs}${meta}`;
}

/** The flat answer to a tools/call that made a task, or found it (T3). */
export function createTaskResult(
  { record, progress, nowMs, isNew }: Omit<Created, "isKeyed">,
  isTargetKnown: (target: string) => boolean,
): JsonObject {
  // Stored progress has no time of its own here, and an estimate without one is none.
  const timed = progress === null ? null : { ...progress, etaSeconds: null, atMs: record.updatedAtMs };
  const moving = hasEnded(record)
    ? movingFieldsOfEnded(record)
    : liveFields(liveHead(record), timed, { nowMs, isTargetKnown: isTargetKnown(record.target) });
  return {
    resultType: "task",
    ...fixedFields(record),
    ...moving,
    ...(isNew ? {} : { _meta: { [META.existing]: true } }),
  };
}

/** What changes only with the record. */
function fixedFields(record: TaskRecord) {
  return {
    taskId: record.id,
    status: taskStatus(record),
    createdAt: isoTime(record.createdAtMs),
    ttlMs: Math.round(record.expiresAtMs - record.createdAtMs),
  };
}

/** What changes with time and progress. */
function liveFields(
  head: LiveHead,
  progress: LiveProgress | null,
  at: { readonly nowMs: number; readonly isTargetKnown: boolean },
) {
  return {
    statusMessage: liveMessage(head, progress, at),
    lastUpdatedAt: isoTime(Math.max(head.updatedAtMs, progress?.atMs ?? 0)),
    pollIntervalMs: pollIntervalMs(head, at.nowMs),
  };
}

function movingFieldsOfEnded(record: TaskRecord) {
  return {
    statusMessage: outcomeLine(record),
    lastUpdatedAt: isoTime(record.updatedAtMs),
    pollIntervalMs: ENDED_POLL_MS,
  };
}

function endedFields(record: TaskRecord): JsonObject {
  const moving = movingFieldsOfEnded(record);
  const status = taskStatus(record);
  if (status === "completed") return { ...moving, result: callToolResult(record) };
  if (status !== "failed") return moving;
  const reason = record.outcome?.kind ?? "lost";
  return { ...moving, error: { code: RPC.internalError, message: moving.statusMessage, data: { reason } } };
}

function inputRequests(record: TaskRecord): JsonObject {
  return Object.fromEntries(openInputs(record).map(({ key, request }) => [key, request]));
}
