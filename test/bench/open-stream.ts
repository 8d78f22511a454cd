import { request } from "node:http";
import { headersOf } from "./desk-process.ts";

export type OpenStream = {
  readonly taskId: string;
  /** Resolves when the first event is here. */
  readonly opened: Promise<void>;
  /** When the next event comes, by this process's monotonic clock. */
  next(): Promise<number>;
  close(): void;
};

/** A tasks/stream that notes when events come and reads nothing of them. */
export function openStream(port: number, body: string, taskId: string): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    let wake: (atMs: number) => void = () => undefined;
    const headers = {
      ...headersOf("tasks/stream", { taskId }),
      "content-length": String(Buffer.byteLength(body)),
    };
    const out = request(
      { port, host: "127.0.0.1", path: "/mcp", method: "POST", headers, agent: false },
      (reply) => {
        const opened = new Promise<void>((first) => {
          reply.on("data", (chunk: Buffer) => {
            if (!chunk.includes("tasks/event")) return;
            first();
            wake(performance.now());
          });
        });
        reply.on("error", () => undefined); // closed by us
        resolve({
          taskId,
          opened,
          next: () =>
            new Promise((heard) => {
              wake = heard;
            }),
          close: () => out.destroy(),
        });
      },
    );
    out.on("error", reject);
    out.end(body);
  });
}
