import { type DutyChange, dutyChange, dutyMember } from "../domain/duties.ts";
import type { EventDraft } from "../domain/event.ts";
import type { AppendRequest, CommitRequest, CreateAnswer, CreateRequest } from "../domain/store.ts";
import { hasEnded, type TaskRecord } from "../domain/task.ts";
import type { StoreContext } from "./context.ts";
import { oneOf, replyRow, required, requiredNumber } from "./reply.ts";
import { COMMIT } from "./scripts/commit.lua.ts";
import { CREATE } from "./scripts/create.lua.ts";
import { APPEND } from "./scripts/follow.lua.ts";
import { READ_EXPIRY } from "./scripts/read.lua.ts";
import { listArg, runScript } from "./scripts/script.ts";

export async function createTask(context: StoreContext, request: CreateRequest): Promise<CreateAnswer> {
  const answer = await callCreate(context, request);
  if (answer.kind !== "existing") return answer;
  const expiry = await runScript(context.commands, READ_EXPIRY, {
    keys: [context.keys.task(answer.taskId)],
    argv: [],
  });
  if (expiry === "") return answer;
  if (expiry !== null) return { kind: "expired", expiredAtMs: requiredNumber(String(expiry), "ex") };
  // It was purged between the two calls: the claim is a tombstone now, and never an `existing` again.
  return callCreate(context, request);
}

async function callCreate(context: StoreContext, request: CreateRequest): Promise<CreateAnswer> {
  const { keys } = context;
  const { record } = request;
  const duties = splitDuties(dutyChange(null, record).add);
  const reply = await runScript(context.commands, CREATE, {
    keys: [
      keys.claim(request.claim),
      keys.task(record.id),
      keys.events(record.id),
      keys.owner(record.owner),
      keys.target(record.target),
      keys.due(record.target),
      keys.poll(record.target),
    ],
    argv: [
      ...[record.id, request.claim, request.argsHash, request.claimWindowMs ?? ""],
      ...[JSON.stringify(record), record.phaseRev, record.phase, record.life, record.owner, record.target],
      ...[context.renderTask(record), JSON.stringify(request.spec), record.createdAtMs, record.expiresAtMs],
      ...listArg(eventTexts(context, request.events)),
      ...listArg(duties.due),
      ...listArg(duties.poll),
    ],
  });
  const row = replyRow(reply) ?? [];
  const kind = oneOf(row[0], ["created", "existing", "conflict", "expired", "clash"]);
  if (kind === "existing") return { kind, taskId: required(row[1], "id") };
  if (kind === "expired") return { kind, expiredAtMs: requiredNumber(row[1], "gone") };
  if (kind === "clash") throw new Error("a new task has the id of another: ids must be drawn at random");
  return { kind };
}

export async function commitTask(
  context: StoreContext,
  { before, after, events, epoch }: CommitRequest,
): Promise<"committed" | "stale" | "gone"> {
  const { keys } = context;
  const change = hasEnded(after) ? { add: [], remove: everyDuty(before) } : dutyChange(before, after);
  const add = splitDuties(change.add);
  const remove = splitDuties(change.remove);
  const reply = await runScript(context.commands, COMMIT, {
    keys: [
      keys.task(before.id),
      keys.events(before.id),
      keys.expiry,
      keys.due(before.target),
      keys.poll(before.target),
    ],
    argv: [
      ...[before.id, before.phaseRev, epoch ?? "", keys.nudge, context.maxEvents, context.maxBytes],
      ...[JSON.stringify(after), after.phaseRev, after.phase, after.life],
      ...[context.renderTask(after), after.expiresAtMs],
      ...listArg(eventTexts(context, events)),
      ...listArg(add.due),
      ...listArg(add.poll),
      ...listArg(remove.due),
      ...listArg(remove.poll),
    ],
  });
  return oneOf(reply, ["committed", "stale", "gone"]);
}

export async function appendEvents(
  context: StoreContext,
  request: AppendRequest,
): Promise<"appended" | "fenced" | "gone"> {
  const { keys } = context;
  const { taskId } = request;
  const reply = await runScript(context.commands, APPEND, {
    keys: [keys.task(taskId), keys.events(taskId), keys.due(request.target)],
    argv: [
      ...[taskId, dutyMember(taskId, { kind: "follow" }), request.life, request.epoch],
      ...[request.from, request.to, JSON.stringify(request.snapshot), JSON.stringify(request.progress)],
      ...[request.dutyInMs, keys.nudge, context.maxEvents, context.maxBytes],
      ...listArg(eventTexts(context, request.events)),
    ],
  });
  return oneOf(reply, ["appended", "fenced", "gone"]);
}

/** The stored text of an event, without braces, so that a reader splices it and never parses it. */
function eventTexts(context: StoreContext, events: readonly EventDraft[]): string[] {
  return events.map(
    ({ type, payload }) =>
      `"type":${JSON.stringify(`${context.eventPrefix}.${type}`)},"payload":${JSON.stringify(payload)}`,
  );
}

/** Watch duties are taken many at a time by one poller, all others one by one. */
function splitDuties(members: DutyChange["add"]): { due: string[]; poll: string[] } {
  const isPoll = (member: string) => member.startsWith("watch:");
  return { due: members.filter((member) => !isPoll(member)), poll: members.filter(isPoll) };
}

function everyDuty(record: TaskRecord): string[] {
  return [
    ...(["submit", "watch", "follow", "cancel"] as const).map((kind) => dutyMember(record.id, { kind })),
    ...record.inputs.map(({ key }) => dutyMember(record.id, { kind: "deliver", key })),
  ];
}
