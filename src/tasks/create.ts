import type { Hasten } from "../domain/advance.ts";
import { initialTtl } from "../domain/deadlines.ts";
import { dutyChange } from "../domain/duties.ts";
import { TailraceError } from "../domain/errors.ts";
import { lifecycleEvent } from "../domain/event.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Principal } from "../domain/principal.ts";
import type { CreateAnswer, StoredTask, TaskStore } from "../domain/store.ts";
import type { TaskRecord } from "../domain/task.ts";
import type { ToolDefinition } from "../domain/tool.ts";
import { invalidArguments } from "./arguments.ts";
import { argsHash, claimOf, markOf, newTaskId } from "./identity.ts";
import { type ChosenKey, chooseKey } from "./key.ts";
import { newRecord } from "./record.ts";
import { resolveSpec } from "./spec.ts";

export type CreateDeps = {
  readonly hasten: Hasten;
  readonly store: TaskStore;
  readonly tools: () => ReadonlyMap<string, ToolDefinition>;
  readonly instance: string;
  readonly limits: { readonly maxArgumentBytes: number };
};

export type CreateCall = {
  readonly tool: string;
  /** As the caller sent them, our `idempotencyKey` member included. */
  readonly arguments: JsonObject;
  /** The key from the request's metadata, unchecked; undefined when absent. */
  readonly metaKey: unknown;
  readonly traceparent?: string | undefined;
};

export type Created = Pick<StoredTask, "record" | "progress"> & {
  readonly isNew: boolean;
  /** The caller can ask for this task again with a key (or with equal arguments). */
  readonly isKeyed: boolean;
  readonly nowMs: number;
};

/**
 * At most one task per token of a caller and tool: the same token with equal arguments is answered with the task that
 * it made, whatever became of it. Throws `unknown_tool`, `invalid_arguments`, `key_missing`, `key_conflict`,
 * `key_expired`; nothing exists then.
 */
export async function createTask(deps: CreateDeps, caller: Principal, call: CreateCall): Promise<Created> {
  const tool = deps.tools().get(call.tool);
  if (tool === undefined)
    throw new TailraceError(
      "unknown_tool",
      `There is no tool named ${quote(call.tool)} here; tools/list names those there are.`,
    );
  const { key, args: given } = chooseKey(tool, call.arguments, call.metaKey);
  const checked = tool.checkArguments(given);
  if ("problems" in checked) throw invalidArguments(checked.problems);
  const spec = resolveSpec(tool, checked.args, {
    ...deps.limits,
    traceparent: call.traceparent,
    caller: caller.name,
  });
  try {
    const nowMs = await deps.store.now();
    const record = describe(deps, { caller, tool, key }, nowMs);
    const answer = await deps.store.create({
      claim: claimOf({ owner: caller.id, tool: tool.name, token: key.claimToken }),
      // The arguments as sent: a retry must find its task even after the operator has changed a default.
      argsHash: argsHash(given),
      record,
      spec,
      events: [accepted(tool, spec.resources.walltimeSeconds, nowMs)],
      claimWindowMs: key.windowMs,
    });
    return await settle(deps, { answer, record, key, nowMs });
  } catch (error) {
    throw withRetryAdvice(error, key);
  }
}

function describe(
  deps: CreateDeps,
  { caller, tool, key }: { caller: Principal; tool: ToolDefinition; key: ChosenKey },
  nowMs: number,
): TaskRecord {
  const { walltimeSeconds } = tool.resources;
  return newRecord({
    id: newTaskId(),
    owner: caller.id,
    tool: tool.name,
    target: tool.target,
    mark: markOf(deps.instance, { owner: caller.id, tool: tool.name, token: key.markToken }),
    createdAtMs: nowMs,
    keepMs: tool.ttlMs,
    walltimeSeconds,
    expiresAtMs: initialTtl(nowMs, tool.ttlMs, walltimeSeconds),
  });
}

/** Everybody who may read the stream sees this: neither arguments nor ids belong in it. */
function accepted(tool: ToolDefinition, walltimeSeconds: number, atMs: number) {
  const { name, target, solver } = tool;
  return lifecycleEvent("task.accepted", atMs, { tool: name, target, solver, walltimeSeconds });
}

async function settle(
  deps: CreateDeps,
  { answer, record, key, nowMs }: { answer: CreateAnswer; record: TaskRecord; key: ChosenKey; nowMs: number },
): Promise<Created> {
  const isKeyed = key.isRepeatable;
  switch (answer.kind) {
    case "created":
      for (const member of dutyChange(null, record).add) deps.hasten(record.target, member);
      return { isNew: true, isKeyed, nowMs, record, progress: null };
    case "existing": {
      const stored = await deps.store.read(answer.taskId);
      if (stored === null) throw keyExpired(nowMs);
      const { record: found, progress } = stored;
      return { isNew: false, isKeyed, nowMs, record: found, progress };
    }
    case "conflict":
      throw new TailraceError(
        "key_conflict",
        "This idempotency key was already used for this tool with other arguments. Use a new key for a new job.",
      );
    case "expired":
      throw keyExpired(answer.expiredAtMs);
    default:
      return answer satisfies never;
  }
}

function keyExpired(expiredAtMs: number): TailraceError {
  const day = new Date(expiredAtMs).toISOString();
  return new TailraceError(
    "key_expired",
    `The task of this idempotency key expired on ${day}; use a new key.`,
  );
}

/** A create that was not answered may have been applied: only its own key tells. */
function withRetryAdvice(error: unknown, key: ChosenKey): unknown {
  if (!(error instanceof TailraceError) || error.code !== "store_unavailable") return error;
  const advice = key.isRepeatable
    ? "The task may have been made all the same. Retry with the same key and arguments: the job is started at most once."
    : "The task may have been made all the same. The call had no idempotency key, so a retry may start a second job.";
  return new TailraceError(error.code, error.message, { data: { ...error.data, advice }, cause: error });
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, 128));
}
