import { isIP } from "node:net";
import type { Json } from "../domain/json.ts";
import { readFields } from "./fields.ts";
import type { Part } from "./part.ts";
import type { Overrides } from "./places.ts";
import { LimitsFile, ListenFile } from "./schema.ts";
import type { Settings } from "./settings.ts";

export function readLimits(value: Json | undefined, { report }: Part): Settings["limits"] | null {
  const fields = readFields(LimitsFile, value ?? {}, { path: ["limits"], report });
  const { inlineWait, streamsPerCaller, streamsPerTask } = fields;
  if (inlineWait === undefined || streamsPerCaller === undefined || streamsPerTask === undefined) return null;
  return { inlineWaitMs: inlineWait, streamsPerCaller, streamsPerTask };
}

type Beside = { readonly auth: Settings["auth"] | null; readonly overrides: Overrides | undefined };

/** The `listen` section with the command line's host and port, and whether it goes with `auth`. */
export function readListen(
  value: Json | undefined,
  { report }: Part,
  { auth, overrides }: Beside,
): Settings["listen"] | null {
  const path = ["listen"];
  const fields = readFields(ListenFile, value ?? {}, { path, report });
  const host = bare(overrides?.host ?? fields.host);
  const port = overrides?.port ?? fields.port;
  const { allowedHosts, allowedOrigins } = fields;
  if (overrides?.host !== undefined && !ListenFile.shape.host.safeParse(overrides.host).success)
    report.outside("--host", "must be a host name or an address, without scheme or port");
  if (overrides?.port !== undefined && !isPort(overrides.port))
    report.outside("--port", "must be a whole number from 0 to 65535");
  if (host === undefined || port === undefined || allowedHosts === undefined || allowedOrigins === undefined)
    return null;
  if (!isLoopback(host)) {
    if (auth?.kind === "none")
      report.problem(
        ["auth"],
        `none is for this machine only, and listen.host is ${host}: configure tokens, or leave auth out and a token is drawn`,
      );
    if (auth?.kind === "drawn")
      report.warning(
        [...path, "host"],
        `others can reach ${host}: callers need the token that is drawn into the state directory; give each a token of its own under auth`,
      );
    if (allowedHosts !== "any" && allowedHosts.length === 0)
      report.warning(
        [...path, "allowedHosts"],
        "is empty, so requests that name any host but this machine's loopback are refused: list the names that clients use",
      );
  }
  return {
    host,
    port,
    allowedHosts: allowedHosts === "any" ? null : allowedHosts.map((name) => name.toLowerCase()),
    allowedOrigins,
  };
}

/** An IPv6 address without the brackets that it has in a URL. */
function bare(host: string | undefined): string | undefined {
  return host?.replace(/^\[(.*)\]$/, "$1");
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 0 && port <= 65_535;
}

export function isLoopback(host: string): boolean {
  if (host === "localhost" || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}
