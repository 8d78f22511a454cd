import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tokenHash } from "../../../src/auth/tokens.ts";
import { complaintsAbout, load, loadedOf, settingsOf, tempFolder } from "../../support/config.ts";

const TOKEN = "a-token-that-is-long-enough";
const ENV = { HOME: "/home/op", TOKEN };

test("without auth a token will be drawn; none is none", async () => {
  expect((await settingsOf("")).auth).toEqual({ kind: "drawn" });
  expect((await settingsOf("auth:")).auth).toEqual({ kind: "drawn" });
  expect((await settingsOf("auth: none")).auth).toEqual({ kind: "none" });
});

test("tokens come from variables, files and hashes, and only hashes are kept", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "bob"), `${TOKEN}-of-bob\n`, { mode: 0o600 });
  const hash = tokenHash(`${TOKEN}-of-carol`);
  const text = `auth: { tokens: [ { name: alice, env: TOKEN }, { name: bob, file: bob }, { name: carol, sha256: ${hash.toUpperCase()} } ] }`;
  const { settings, warnings } = await loadedOf(text, { cwd, env: ENV });
  expect(settings.auth).toEqual({
    kind: "tokens",
    tokens: [
      { name: "alice", sha256: tokenHash(TOKEN) },
      { name: "bob", sha256: tokenHash(`${TOKEN}-of-bob`) },
      { name: "carol", sha256: hash },
    ],
  });
  expect(warnings).toEqual([]);
});

test("a token file that others can read is warned about", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "t"), TOKEN);
  chmodSync(join(cwd, "t"), 0o644);
  const { warnings } = await loadedOf("auth: { tokens: [ { name: a, file: t } ] }", { cwd });
  expect(warnings.join()).toContain("t may be read by others: chmod 600 t");
});

test.each([
  ["auth: { token: hunter2hunter2hunter2 }", "auth.token: a configuration file is no place for secrets"],
  [
    "auth: { tokens: [hunter2hunter2hunter2] }",
    "auth.tokens[0]: must be a map: a configuration file is no place",
  ],
  [
    "auth: { tokens: [ { name: a, token: hunter2hunter2 } ] }",
    "auth.tokens[0].token: a configuration file is no place",
  ],
  ["auth: hunter2hunter2hunter2", "auth: must be none, or a map with tokens"],
  ["auth: false", "auth: must be none"],
  ["auth: {}", "auth.tokens: is missing"],
  ["auth: { tokens: [] }", "auth.tokens: must have at least 1 entry"],
  ["auth: { tokens: [ { name: a } ] }", "exactly one of env, file and sha256"],
  ["auth: { tokens: [ { name: a, env: TOKEN, file: x } ] }", "exactly one of env, file and sha256"],
  ["auth: { tokens: [ { env: TOKEN } ] }", "auth.tokens[0].name: is missing"],
  ["auth: { tokens: [ { name: '', env: TOKEN } ] }", "auth.tokens[0].name: must be 1 to 64"],
  ["auth: { tokens: [ { name: a, sha256: hunter2 } ] }", "64 hexadecimal digits"],
  ["auth: { tokens: [ { name: a, env: NOT_SET } ] }", "the environment variable NOT_SET is not set"],
  ["auth: { tokens: [ { name: a, env: EMPTY } ] }", "EMPTY is empty"],
  ["auth: { tokens: [ { name: a, env: SHORT } ] }", "SHORT holds 7 characters: a token needs at least 16"],
  ["auth: { tokens: [ { name: a, env: ODD } ] }", "characters that a bearer token cannot have"],
  ["auth: { tokens: [ { name: a, file: nowhere } ] }", "nowhere does not exist"],
  ["auth: { tokens: [ { name: a, file: . } ] }", "is a directory"],
  [
    "auth: { tokens: [ { name: a, env: TOKEN }, { name: b, env: TOKEN } ] }",
    'auth.tokens[1]: is the same token as that of "a"',
  ],
])("%s is refused: %s", async (text, message) => {
  const env = { ...ENV, EMPTY: "", SHORT: "hunter2", ODD: "hunter2 hunter2 hunter2" };
  const complaints = (await complaintsAbout(text, { env })).join("\n");
  expect(complaints).toContain(message);
  expect(complaints).not.toContain("hunter2");
});

test("the store is where the file, then TAILRACE_REDIS_URL, then REDIS_URL says", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "url"), "rediss://u:p@file:1/2\n", { mode: 0o600 });
  const env = { HOME: "/", TAILRACE_REDIS_URL: "redis://:pw@ours", REDIS_URL: "redis://theirs" };
  const urlOf = async (text: string, variables: Record<string, string> = env) =>
    (await settingsOf(text, { cwd, env: variables })).store.url;
  expect(await urlOf("store: { url: 'redis://user@plain:6380' }")).toBe("redis://user@plain:6380");
  expect(await urlOf("store: { url: 'unix:///run/redis.sock' }")).toBe("unix:///run/redis.sock");
  expect(await urlOf("store: { urlEnv: REDIS_URL }")).toBe("redis://theirs");
  expect(await urlOf("store: { urlFile: url }")).toBe("rediss://u:p@file:1/2");
  expect(await urlOf("")).toBe("redis://:pw@ours");
  expect(await urlOf("", { HOME: "/", REDIS_URL: "redis://theirs" })).toBe("redis://theirs");
  expect(await urlOf("", { HOME: "/", REDIS_URL: "" })).toBeNull();
});

test.each([
  ["store: { url: 'redis://:hunter2@host' }", "store.url: holds a password"],
  ["store: { url: 'redis://u:hunter2@ho st' }", "store.url: holds a password"],
  ["store: { url: 'http://host' }", "store.url: expected redis://"],
  ["store: { url: host }", "store.url: expected redis://"],
  ["store: { url: 'redis://host/x' }", "store.url: expected redis://"],
  ["store: { url: 'redis://a', urlEnv: B }", "there is url already"],
  ["store: { urlEnv: NOT_SET }", "the environment variable NOT_SET is not set"],
  ["store: { urlEnv: BAD }", "BAD: expected redis://"],
  ["store: { urlFile: nowhere }", "nowhere does not exist"],
  ["store: { prefix: tr }", "must hold a hash tag"],
  ["store: { eventPrefix: nodots }", "must be a domain name read backwards"],
  ["store: { claimTtl: 3s }", "is too short"],
])("%s is refused: %s", async (text, message) => {
  const env = { HOME: "/", BAD: "http://u:hunter2@host" };
  const complaints = (await complaintsAbout(text, { env })).join("\n");
  expect(complaints).toContain(message);
  expect(complaints).not.toContain("hunter2");
});

test("a wrong URL in the environment is a problem of the variable", async () => {
  const loaded = await load("", { env: { HOME: "/", REDIS_URL: "postgres://u:hunter2@h" } });
  expect(loaded).toMatchObject({ kind: "problems", problems: [{ file: "REDIS_URL", line: null }] });
  expect(JSON.stringify(loaded)).not.toContain("hunter2");
});

test("beyond loopback nobody is served without a token, from the file or the command line", async () => {
  expect((await complaintsAbout("auth: none\nlisten: { host: 0.0.0.0 }")).join()).toContain(
    "tailrace.yaml:1:1 auth: none is for this machine only",
  );
  expect((await complaintsAbout("auth: none", { overrides: { host: "::" } })).join()).toContain(
    "listen.host is ::",
  );
  for (const host of ["127.0.0.1", "127.9.9.9", "localhost", "'::1'", "'[::1]'"]) {
    expect(await complaintsAbout(`auth: none\nlisten: { host: ${host} }`)).toEqual([]);
  }
});

test("beyond loopback a drawn token counts, with a warning; so do names that nobody may call us by", async () => {
  const { settings, warnings } = await loadedOf("listen: { host: 0.0.0.0 }");
  expect(settings.auth).toEqual({ kind: "drawn" });
  expect(warnings.join("\n")).toMatch(/allowedHosts: is empty[\s\S]*token that is drawn/);
  const quiet =
    "auth: { tokens: [ { name: a, env: TOKEN } ] }\nlisten: { host: 0.0.0.0, allowedHosts: [Login1] }";
  const loaded = await loadedOf(quiet, { env: ENV });
  expect(loaded.warnings).toEqual([]);
  expect(loaded.settings.listen.allowedHosts).toEqual(["login1"]);
  expect((await settingsOf("listen: { allowedHosts: any }")).listen.allowedHosts).toBeNull();
});
