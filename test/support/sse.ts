import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "../../src/domain/json.ts";

/** A client of an event stream that reads when it is asked to. */
export type Sse = {
  readonly headers: Headers;
  /** The next message; null once the stream is over. */
  next(): Promise<JsonObject | null>;
  all(): Promise<JsonObject[]>;
  /** Reads nothing for a while, then everything that still comes, also from a stream that was broken off. */
  resumeAfter(ms: number): Promise<JsonObject[]>;
  /** Comments seen so far. */
  comments(): number;
  close(): void;
};

export async function readSse(request: (signal: AbortSignal) => Promise<Response>): Promise<Sse> {
  const control = new AbortController();
  const response = await request(control.signal);
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    throw new Error(`no stream: ${response.status} ${await response.text()}`);
  }
  if (response.body === null) throw new Error("no body");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const ready: JsonObject[] = [];
  let buffer = "";
  let comments = 0;
  let waiting: Promise<boolean> | null = null;

  function take(text: string): void {
    buffer += text;
    const frames = buffer.split("\n\n");
    buffer = frames.pop() ?? "";
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data === undefined) comments += 1;
      else ready.push(JSON.parse(data));
    }
  }

  async function pull(): Promise<boolean> {
    const { done, value } = await reader.read();
    if (!done) take(value);
    return !done;
  }

  /** One read at a time, shared, so that looking for comments does not lose messages. */
  const more = () => {
    waiting ??= pull().finally(() => {
      waiting = null;
    });
    return waiting;
  };

  async function next(): Promise<JsonObject | null> {
    while (ready.length === 0) if (!(await more())) return null;
    return ready.shift() ?? null;
  }

  async function all(): Promise<JsonObject[]> {
    const messages: JsonObject[] = [];
    for (let message = await next(); message !== null; message = await next()) messages.push(message);
    return messages;
  }

  return {
    headers: response.headers,
    next,
    all,
    async resumeAfter(ms) {
      await delay(ms);
      const messages: JsonObject[] = [];
      try {
        for (let message = await next(); message !== null; message = await next()) messages.push(message);
      } catch {
        // Broken off, as the test wants it.
      }
      return messages;
    },
    comments() {
      more().catch(() => undefined);
      return comments;
    },
    close: () => control.abort(),
  };
}

/** The data of each message of an event stream, as it was sent. Throws when the stream breaks off. */
export async function* sseData(response: Response): AsyncGenerator<string> {
  if (response.body === null) throw new Error("no body");
  let buffer = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const frames = (buffer + text).split("\n\n");
    buffer = frames.pop() ?? "";
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data !== undefined) yield data;
    }
  }
}
