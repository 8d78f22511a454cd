import { tokenHash } from "../auth/tokens.ts";
import type { Json } from "../domain/json.ts";
import { isJsonObject, readFields } from "./fields.ts";
import { readTextFile, resolvePath } from "./files.ts";
import type { Part } from "./part.ts";
import type { Path } from "./problem.ts";
import { AuthFile, TokenFile } from "./schema.ts";
import type { Settings } from "./settings.ts";

type Auth = Settings["auth"];
type NamedToken = { readonly name: string; readonly sha256: string };

const PATH = ["auth"] as const;
const MAX_TOKEN_BYTES = 4096;
const LEAST_CHARACTERS = 16;
const NO_SECRETS =
  "a configuration file is no place for secrets: keep the token in an environment variable or a file of mode 600, and write { name, env: VARIABLE }, { name, file: path } or { name, sha256: <hex of its sha256> } under tokens";

/** The `auth` section; null when something about it is wrong. Tokens leave here as hashes only. */
export async function readAuth(value: Json | undefined, part: Part): Promise<Auth | null> {
  const { report } = part;
  if (value === undefined || value === null) return { kind: "drawn" };
  if (value === "none") return { kind: "none" };
  if (!isJsonObject(value)) {
    report.problem(PATH, "must be none, or a map with tokens; leave it out, and a token is drawn");
    return null;
  }
  const { token, ...rest } = value;
  if (token !== undefined) report.problem([...PATH, "token"], NO_SECRETS);
  if (token !== undefined && rest["tokens"] === undefined) return null;
  const { tokens } = readFields(AuthFile, rest, { path: PATH, report });
  if (tokens === undefined) return null;
  const read: (NamedToken | null)[] = [];
  for (const [index, entry] of tokens.entries()) {
    read.push(await readToken(entry, part, [...PATH, "tokens", index]));
  }
  reportTwins(read, part);
  return { kind: "tokens", tokens: read.filter((one) => one !== null) };
}

async function readToken(entry: Json, part: Part, path: Path): Promise<NamedToken | null> {
  const { report } = part;
  if (!isJsonObject(entry)) {
    report.problem(path, `must be a map: ${NO_SECRETS}`);
    return null;
  }
  const { token, ...rest } = entry;
  if (token !== undefined) report.problem([...path, "token"], NO_SECRETS);
  const { name, ...places } = readFields(TokenFile, rest, { path, report });
  const given = (["env", "file", "sha256"] as const).filter((key) => rest[key] !== undefined);
  if (given.length !== 1) {
    if (token === undefined) report.problem(path, "must have exactly one of env, file and sha256");
    return null;
  }
  const hash = await readHash(places, part, path);
  return name === undefined || hash === null ? null : { name, sha256: hash };
}

type Places = {
  readonly env?: string | undefined;
  readonly file?: string | undefined;
  readonly sha256?: string | undefined;
};

async function readHash({ env, file, sha256 }: Places, part: Part, path: Path): Promise<string | null> {
  const { report } = part;
  if (sha256 !== undefined) return sha256.toLowerCase();
  if (env !== undefined) {
    const token = part.env[env];
    if (token !== undefined) return hashOf(token, (why) => report.problem([...path, "env"], `${env} ${why}`));
    report.problem([...path, "env"], `the environment variable ${env} is not set`);
  }
  if (file === undefined) return null;
  const found = await readTextFile(resolvePath(file, { from: part.folder, env: part.env }), MAX_TOKEN_BYTES);
  const complain = (why: string) => report.problem([...path, "file"], `${file} ${why}`);
  if (found.kind === "unusable") {
    complain(found.message);
    return null;
  }
  if ((found.mode & 0o077) !== 0)
    report.warning([...path, "file"], `${file} may be read by others: chmod 600 ${file}`);
  return hashOf(found.text.trim(), complain);
}

function hashOf(token: string, complain: (why: string) => void): string | null {
  if (token === "") complain("is empty: put a token there, e.g. from openssl rand -hex 32");
  else if (token.length < LEAST_CHARACTERS)
    complain(
      `holds ${token.length} characters: a token needs at least ${LEAST_CHARACTERS}, e.g. openssl rand -hex 32`,
    );
  // What the Authorization header can carry (RFC 6750); any other token could never be presented.
  else if (!/^[A-Za-z0-9._~+/-]+=*$/.test(token))
    complain("holds characters that a bearer token cannot have: use A-Z a-z 0-9 . _ ~ + / - only");
  else return tokenHash(token);
  return null;
}

function reportTwins(tokens: readonly (NamedToken | null)[], { report }: Part): void {
  for (const [index, token] of tokens.entries()) {
    const earlier = tokens.slice(0, index).filter((one) => one !== null);
    const path = [...PATH, "tokens", index];
    if (token === null) continue;
    // Two tokens of one name are how a token is changed without a gap; one token of two names is a mistake.
    const twin = earlier.find((one) => one.sha256 === token.sha256);
    if (twin !== undefined) report.problem(path, `is the same token as that of ${JSON.stringify(twin.name)}`);
  }
}
