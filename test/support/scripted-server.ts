import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { JsonObject } from "../../src/domain/json.ts";

export type Asked = {
  readonly method: string;
  readonly params: JsonObject;
  readonly id: number;
  readonly headers: IncomingHttpHeaders;
};

/** What a server does with one request: writes what it likes to the response. */
export type Answering = (response: ServerResponse, asked: Asked) => void;

/** A server that answers request after request as its script says, in ways that a good one would not. */
export async function startScriptedServer(script: readonly Answering[]) {
  const asked: Asked[] = [];
  const left = [...script];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method, params, id } = JSON.parse(body);
      const one = { method, params, id, headers: request.headers };
      asked.push(one);
      const answering = left.shift() ?? answerError(-32603, "the script has ended");
      answering(response, one);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    asked,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export function answer(result: JsonObject, status = 200): Answering {
  return (response, { id }) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  };
}

export function answerError(
  code: number,
  message: string,
  more: { status?: number; data?: JsonObject } = {},
): Answering {
  return (response, { id }) => {
    response.writeHead(more.status ?? 200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, ...(more.data && { data: more.data }) } }),
    );
  };
}

export type Streamed = { readonly seqs: readonly number[]; readonly taskId?: string; readonly last?: number };

/** A stream with these events, the one called `last` being the task's end; then its result, or a broken connection. */
export function stream(
  { seqs, taskId = "t_1", last }: Streamed,
  end: "result" | "break" | JsonObject,
): Answering {
  return (response, { id }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": keep-alive\n\n");
    for (const seq of seqs) {
      const type = seq === last ? "dev.tailrace.task.ended" : "dev.tailrace.task.status";
      const params = { seq, taskId, type, payload: { message: "ä".repeat(seq) } };
      const frame = `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/tasks/event", params })}\n\n`;
      // In pieces that end anywhere, also inside a character.
      const bytes = Buffer.from(frame);
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
    }
    if (end === "break") setImmediate(() => response.destroy());
    else {
      const body = end === "result" ? { result: { resultType: "complete" } } : { error: end };
      response.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n\n`);
    }
  };
}
