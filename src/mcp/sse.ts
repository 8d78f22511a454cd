import type { ServerResponse } from "node:http";

export type SseOptions = {
  /** A comment goes out after this long without anything else, in ms. */
  readonly keepAliveMs: number;
  /** A reader that has not taken what was written within this time is closed; it resumes with `after`. */
  readonly drainMs: number;
  /** More than this waiting for a reader closes it, in bytes. */
  readonly maxPendingBytes: number;
};

export const DEFAULT_SSE: SseOptions = { keepAliveMs: 15_000, drainMs: 30_000, maxPendingBytes: 1024 * 1024 };

/** A response as an event stream, written straight to the socket: one text per page, however many events. */
export type SseStream = {
  /** Writes messages and waits until the reader has room again. False: the reader is gone, or was closed as too slow. */
  send(messages: readonly string[]): Promise<boolean>;
  /** Writes the last message and ends the response. */
  end(message: string): void;
  /** Breaks the connection off. */
  abort(): void;
};

export function openSse(response: ServerResponse, options: SseOptions): SseStream {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  response.flushHeaders();
  // What is written to a reader that has gone is nobody's loss: the cursor is the reader's.
  response.on("error", () => undefined);
  const keepAlive = setInterval(() => {
    if (response.writableLength === 0) response.write(": keep-alive\n\n");
  }, options.keepAliveMs);
  keepAlive.unref();
  response.once("close", () => clearInterval(keepAlive));

  const isOpen = () => !response.destroyed && !response.writableEnded;
  return {
    async send(messages) {
      if (!isOpen()) return false;
      keepAlive.refresh();
      if (response.write(messages.map(frame).join(""))) return true;
      const isTaken =
        response.writableLength <= options.maxPendingBytes && (await drained(response, options.drainMs));
      if (!isTaken) response.destroy();
      return isTaken && isOpen();
    },
    end(message) {
      clearInterval(keepAlive);
      if (isOpen()) response.end(frame(message));
    },
    abort() {
      clearInterval(keepAlive);
      response.destroy();
    },
  };
}

/** JSON text holds no line break of its own, so one data line carries it. */
function frame(message: string): string {
  return `event: message\ndata: ${message}\n\n`;
}

function drained(response: ServerResponse, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isDrained: boolean) => {
      clearTimeout(timer);
      response.off("drain", onDrain);
      response.off("close", onClose);
      resolve(isDrained);
    };
    const onDrain = () => settle(true);
    const onClose = () => settle(false);
    const timer = setTimeout(() => settle(false), timeoutMs);
    response.once("drain", onDrain);
    response.once("close", onClose);
  });
}
