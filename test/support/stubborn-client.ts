import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "../../src/domain/json.ts";
import { type Answer, type CallOptions, clientOf } from "./front-desk.ts";
import { sseData } from "./sse.ts";

const AGAIN_MS = 25;
const GIVE_UP_MS = 40_000;

type Where = () => string;

/**
 * A call that is sent again, unchanged, for as long as nobody answers or the answer says that it may be: what a client
 * does while servers come and go. `url` is asked anew each time. Any other error is an answer.
 */
export async function callUntilAnswered(
  url: Where,
  method: string,
  params: JsonObject,
  options: CallOptions = {},
): Promise<Answer> {
  const deadline = performance.now() + GIVE_UP_MS;
  for (;;) {
    const answer = await clientOf(url())
      .call(method, params, options)
      .catch((error: unknown) => unanswered(error));
    if (answer !== null && answer.error?.data?.["retryable"] !== true) return answer;
    if (performance.now() > deadline)
      throw new Error(`${method} was not answered: ${JSON.stringify(answer)}`);
    await delay(AGAIN_MS);
  }
}

/** The result; throws an error's text. */
export async function resultOf(
  url: Where,
  method: string,
  params: JsonObject,
  options: CallOptions = {},
): Promise<JsonObject> {
  const { result, error } = await callUntilAnswered(url, method, params, options);
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

/** Creates a task, or finds the one of the same key. */
export async function createTask(url: Where, tool: string, args: JsonObject): Promise<JsonObject> {
  const task = await resultOf(url, "tools/call", { name: tool, arguments: args });
  if (typeof task["taskId"] !== "string") throw new Error(`no task: ${JSON.stringify(task)}`);
  return task;
}

export type Reader = {
  /** Raw text of each event, in the order in which it came. */
  readonly texts: string[];
  /** Streams that were opened and ended or broke before the task's last event. */
  breaks(): number;
  /** Resolves with the last event of the task. */
  readonly done: Promise<void>;
};

/** Follows a task to its last event over every break, each time with the seq of the last event that it has. */
export function followEvents(url: Where, taskId: string): Reader {
  const sink: Sink = { texts: [], streams: 0 };
  const { texts } = sink;
  const read = async () => {
    const deadline = performance.now() + GIVE_UP_MS;
    while (!isLast(texts.at(-1))) {
      if (performance.now() > deadline)
        throw new Error(`the stream did not end; it has ${texts.length} events, the last: ${texts.at(-1)}`);
      const last = texts.at(-1);
      const params = last === undefined ? { taskId } : { taskId, after: seqOf(last) };
      await readOnce(url(), params, sink).catch((error: unknown) => unanswered(error));
      if (!isLast(texts.at(-1))) await delay(AGAIN_MS);
    }
  };
  const done = read();
  done.catch(() => undefined); // a test that fails first may never come to await it
  return { texts, breaks: () => sink.streams - 1, done };
}

/** All events of a task that has ended, in one stream that must not break. */
export async function readAgain(url: Where, taskId: string): Promise<string[]> {
  const sink: Sink = { texts: [], streams: 0 };
  await readOnce(url(), { taskId }, sink);
  return sink.texts;
}

export function seqOf(text: string): number {
  const { params } = JSON.parse(text) as { params: { seq: number } };
  return params.seq;
}

/** Type of an event without our prefix, with its payload. */
export function eventOf(text: string): { type: string; payload: JsonObject } {
  const { params } = JSON.parse(text) as { params: { type: string; payload: JsonObject } };
  return { type: params.type.replace(/^dev\.tailrace[./]/, ""), payload: params.payload };
}

type Sink = { readonly texts: string[]; streams: number };

async function readOnce(url: string, params: JsonObject, sink: Sink): Promise<void> {
  const response = await clientOf(url).open("tasks/stream", params);
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    const { error } = (await response.json()) as Answer;
    if (error.data?.["retryable"] === true) return;
    throw new RefusedStream(JSON.stringify(error));
  }
  sink.streams += 1;
  for await (const text of sseData(response)) {
    const message = JSON.parse(text) as { method?: string; error?: Answer["error"] };
    if (message.method === "notifications/tasks/event") sink.texts.push(text);
    else if (message.error !== undefined && message.error.data?.["retryable"] !== true)
      throw new RefusedStream(JSON.stringify(message.error));
  }
}

/** An answer that no retry changes. */
class RefusedStream extends Error {}

function isLast(text: string | undefined): boolean {
  return text !== undefined && eventOf(text).type === "task.ended";
}

/** A connection that was refused or broken is no answer; what else is thrown is a fault. */
function unanswered(error: unknown): null {
  if (error instanceof RefusedStream) throw error;
  // fetch says "fetch failed" or "terminated"; a body that was cut in the middle is no JSON.
  if (error instanceof TypeError || error instanceof SyntaxError) return null;
  throw error;
}
