import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { mirror } from "../support/front-desk.ts";

type Measured = { readonly cpuMicros: number; readonly heldBytes: number };

/** The bench server in a process of its own, and a client that keeps its connections. */
export type DeskProcess = {
  readonly port: number;
  measure(): Promise<Measured>;
  post(path: string, body: string, headers: Record<string, string>): Promise<string>;
  stop(): Promise<void>;
};

export async function startDeskProcess(socket: string, reply: object): Promise<DeskProcess> {
  const child = fork(new URL("server.ts", import.meta.url), [socket, JSON.stringify(reply)], {
    execArgv: [...process.execArgv, "--expose-gc"],
  });
  const ready = await answer<{ port: number }>(child);
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  return {
    port: ready.port,
    measure() {
      child.send("measure");
      return answer<Measured>(child);
    },
    post: (path, body, headers) => post({ agent, port: ready.port }, { path, body, headers }),
    async stop() {
      agent.destroy();
      const gone = once(child, "exit");
      child.send("stop");
      await gone;
    },
  };
}

async function answer<T>(child: ChildProcess): Promise<T> {
  const [message] = (await once(child, "message")) as [T];
  return message;
}

function post(
  to: { readonly agent: Agent; readonly port: number },
  sent: { readonly path: string; readonly body: string; readonly headers: Record<string, string> },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { ...sent.headers, "content-length": String(Buffer.byteLength(sent.body)) };
    const { agent, port } = to;
    const out = request(
      { agent, port, host: "127.0.0.1", path: sent.path, method: "POST", headers },
      (reply) => {
        let text = "";
        reply.setEncoding("utf8");
        reply.on("data", (chunk: string) => {
          text += chunk;
        });
        reply.on("end", () => resolve(text));
      },
    );
    out.on("error", reject);
    out.end(sent.body);
  });
}

/** The headers of a call; the bench desk asks for no token. */
export function headersOf(method: string, params: Record<string, string>): Record<string, string> {
  return mirror(method, params);
}
