import type { JsonObject } from "../../domain/json.ts";
import type { Created } from "../../tasks/create.ts";
import { KEY_META } from "../../tasks/key.ts";
import type { Call, Method, MethodDeps, Reply } from "../call.ts";
import { callToolResult } from "../call-result.ts";
import { RpcError } from "../errors.ts";
import { outcomeLine } from "../outcome-text.ts";
import { optionalObject, requiredText } from "../params.ts";
import { member, RPC } from "../protocol.ts";
import { declaresTasks, tasksRequired } from "../tiers.ts";
import { createTaskResult, taskStatus } from "../wire.ts";

/** A task for a client that can take one; for others the job's own result, when it comes soon enough. */
export const callTool: Method = async (call, deps) => {
  const name = requiredText(call.params, "name");
  const args = optionalObject(call.params, "arguments");
  const isDeclared = declaresTasks(call.meta);
  if (!isDeclared && deps.tools().get(name)?.tasks === "required") {
    throw tasksRequired(
      `The tool ${name} runs only as a task, and this client does not declare the Tasks extension.`,
    );
  }
  const created = await deps.tasks.create(call.principal, {
    tool: name,
    arguments: args,
    metaKey: member(call.meta, KEY_META),
    traceparent: traceparent(call.meta),
  });
  if (isDeclared) {
    if (call.signal.aborted) await abandon(call, created, deps);
    return deps.reply.of(createTaskResult(created, deps.isTargetKnown));
  }
  return await answerInline(call, created, deps);
};

/**
 * Whoever cannot ask again gets an answer now or none: a job without a key that did not end in time is stopped, for
 * nobody could ever learn of it. With a key it goes on (C17).
 */
async function answerInline(call: Call, created: Created, deps: MethodDeps): Promise<Reply> {
  const { id } = created.record;
  const waited = await deps.tasks
    .waitForEnd(call.principal, { taskId: id, timeoutMs: deps.inlineWaitMs, signal: call.signal })
    .catch(async (error: unknown) => {
      await abandon(call, created, deps).catch(() => undefined);
      throw error;
    });
  if (waited.kind === "ended") return deps.reply.of(inlineResult(waited.record));
  await abandon(call, created, deps);
  const wait = Math.round(deps.inlineWaitMs / 1000);
  const why =
    waited.kind === "asking"
      ? "The job asks for input, which this client cannot give without the Tasks extension."
      : `The job did not end within ${wait} s, and this client does not declare the Tasks extension.`;
  const then = created.isKeyed
    ? "It goes on: send the same call with the same idempotency key to get its result."
    : "As the call had no idempotency key, nobody could ask for it again, so it is being cancelled.";
  throw tasksRequired(`${why} ${then}`);
}

async function abandon(call: Call, created: Created, deps: MethodDeps): Promise<void> {
  if (created.isNew && !created.isKeyed) await deps.tasks.cancel(call.principal, created.record.id);
}

function inlineResult(record: Created["record"]): JsonObject {
  if (taskStatus(record) !== "failed") return callToolResult(record);
  throw new RpcError({ code: RPC.internalError, httpStatus: 200 }, outcomeLine(record));
}

function traceparent(meta: JsonObject): string | undefined {
  const value = member(meta, "traceparent");
  return typeof value === "string" ? value : undefined;
}
