import type { Json } from "../domain/json.ts";
import { readFields } from "./fields.ts";
import { readTextFile, resolvePath } from "./files.ts";
import type { Part } from "./part.ts";
import { StoreFile } from "./schema.ts";
import type { Settings } from "./settings.ts";

const PATH = ["store"] as const;
const MAX_URL_BYTES = 4096;
const EXPECTED = "expected redis://[user@]host[:port][/db], rediss://… or unix:///path/to/socket";

/** The `store` section; null when something about it is wrong. */
export async function readStore(value: Json | undefined, part: Part): Promise<Settings["store"] | null> {
  const fields = readFields(StoreFile, value ?? {}, { path: PATH, report: part.report });
  const url = await readUrl(fields, part);
  const { prefix, eventPrefix, durability, claimTtl } = fields;
  if (url === undefined || prefix === undefined || eventPrefix === undefined) return null;
  if (durability === undefined || claimTtl === undefined) return null;
  return { url, prefix, eventPrefix, durability, claimTtlMs: claimTtl };
}

type Places = {
  readonly url?: string | undefined;
  readonly urlEnv?: string | undefined;
  readonly urlFile?: string | undefined;
};

/** null: the embedded server; undefined: reported. */
async function readUrl(places: Places, part: Part): Promise<string | null | undefined> {
  const { url, urlEnv, urlFile } = places;
  const { report, env } = part;
  const given = (["url", "urlEnv", "urlFile"] as const).filter((key) => places[key] !== undefined);
  if (given.length > 1) {
    report.problem(
      [...PATH, given[1] ?? "url"],
      `there is ${given[0]} already: give one of url, urlEnv and urlFile`,
    );
    return undefined;
  }
  if (url !== undefined) {
    if (holdsPassword(url)) {
      report.problem(
        [...PATH, "url"],
        "holds a password, and a configuration file is no place for secrets: name a variable (urlEnv) or a file (urlFile) that holds the URL",
      );
      return undefined;
    }
    return checkUrl(url, (message) => report.problem([...PATH, "url"], message));
  }
  if (urlEnv !== undefined) {
    const value = env[urlEnv];
    if (value)
      return checkUrl(value, (message) => report.problem([...PATH, "urlEnv"], `${urlEnv}: ${message}`));
    report.problem([...PATH, "urlEnv"], `the environment variable ${urlEnv} is not set`);
    return undefined;
  }
  if (urlFile !== undefined) return readUrlFile(urlFile, part);
  const name = env["TAILRACE_REDIS_URL"] ? "TAILRACE_REDIS_URL" : "REDIS_URL";
  const value = env[name];
  return value ? checkUrl(value, (message) => report.outside(name, message)) : null;
}

async function readUrlFile(urlFile: string, { report, env, folder }: Part): Promise<string | undefined> {
  const path = resolvePath(urlFile, { from: folder, env });
  const file = await readTextFile(path, MAX_URL_BYTES);
  const complain = (message: string) => report.problem([...PATH, "urlFile"], `${urlFile} ${message}`);
  if (file.kind === "unusable") {
    complain(file.message);
    return undefined;
  }
  if ((file.mode & 0o077) !== 0)
    report.warning([...PATH, "urlFile"], `${urlFile} may be read by others: chmod 600 ${urlFile}`);
  return checkUrl(file.text.trim(), (message) => complain(`does not hold a usable URL: ${message}`));
}

function holdsPassword(text: string): boolean {
  if (!URL.canParse(text)) return /:[^/@]*@/.test(text);
  return new URL(text).password !== "";
}

/** The messages never repeat the URL. */
function checkUrl(text: string, complain: (message: string) => void): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isUnix = url?.protocol === "unix:" && url.pathname.length > 1;
  const isRedis = (url?.protocol === "redis:" || url?.protocol === "rediss:") && url.hostname !== "";
  const isWhole = isUnix || (isRedis && /^\/?\d*$/.test(url?.pathname ?? ""));
  if (isWhole) return text;
  complain(EXPECTED);
  return undefined;
}
