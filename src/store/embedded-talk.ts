import { connect } from "node:net";

/** How a server on a socket is: `absent` nobody listens, `silent` somebody does and does not answer. */
export type ServerState = "ready" | "loading" | "absent" | "silent";

const ASK_DEADLINE_MS = 1000;

export async function probe(socket: string): Promise<ServerState> {
  const reply = await ask(socket, "PING");
  if (reply === null) return "absent";
  if (reply.startsWith("+PONG")) return "ready";
  return reply.startsWith("-LOADING") ? "loading" : "silent";
}

/** Connections that the server has beside the one that asks; null when it does not say. */
export async function otherClients(socket: string): Promise<number | null> {
  const count = /^connected_clients:(\d+)/m.exec((await ask(socket, "INFO clients")) ?? "")?.[1];
  return count === undefined ? null : Number(count) - 1;
}

/**
 * One inline command on a connection of its own, answered by the raw reply: a whole client would retry and queue where
 * the answer "nobody is there" is what is wanted. Null when nobody listens, '' when no answer came in time.
 */
export function ask(socket: string, command: string): Promise<string | null> {
  return new Promise((resolve) => {
    let text = "";
    const connection = connect(socket);
    const finish = (answer: string | null) => {
      clearTimeout(timer);
      connection.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish(text), ASK_DEADLINE_MS);
    connection.once("connect", () => connection.write(`${command}\r\n`));
    connection.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (isWhole(text)) finish(text);
    });
    connection.once("error", () => finish(text === "" ? null : text));
    connection.once("close", () => finish(text));
  });
}

/** A status or error line, or a bulk string with all its bytes. */
function isWhole(text: string): boolean {
  const bulk = /^\$(\d+)\r\n/.exec(text);
  if (bulk === null) return text.endsWith("\r\n");
  return text.length >= bulk[0].length + Number(bulk[1]) + 2;
}
