import type { Settings } from "../config/settings.ts";
import { EXIT } from "./exit-codes.ts";
import { CliFailure, systemCode } from "./failure.ts";
import type { ServerFile } from "./server-file.ts";

/** A server on all addresses is reached by this machine's clients on loopback, whose names it accepts. */
export function reachableUrl(url: string): string {
  const { hostname } = new URL(url);
  if (hostname === "0.0.0.0") return url.replace("0.0.0.0", "127.0.0.1");
  return hostname === "[::]" ? url.replace("[::]", "[::1]") : url;
}

/** Why the front desk could not listen, and what to do; other errors as they are. */
export function startFailure(error: unknown, settings: Settings, running: ServerFile | null): unknown {
  const advice = listenAdvice(systemCode(error), settings.listen, running);
  return advice === null ? error : new CliFailure(advice, EXIT.failure, { cause: error });
}

function listenAdvice(
  code: string | undefined,
  { host, port }: Settings["listen"],
  running: ServerFile | null,
): string | null {
  if (code === "EADDRINUSE") {
    const isOurs = running !== null && new URL(running.url).port === String(port);
    const who = isOurs ? `perhaps by the tailrace with pid ${running.pid}` : "by another program";
    return `port ${port} on ${host} is taken, ${who}. Stop that one, or choose another port with --port (0: any free one)`;
  }
  if (code === "EACCES")
    return `port ${port} on ${host} may not be listened on without privileges: choose one of 1024 or more with --port`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `${JSON.stringify(host)} is no address of this machine: choose another with --host (127.0.0.1: this machine only)`;
  return null;
}
