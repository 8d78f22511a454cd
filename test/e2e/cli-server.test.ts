import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { eventually } from "../support/eventually.ts";
import {
  createSite,
  parseLines,
  type Running,
  runCli,
  type Site,
  startCli,
  stopServer,
} from "../support/tailrace.ts";

// Each command is a process of its own; on a busy machine several of them take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let site: Site;
beforeEach(() => {
  site = createSite();
});
afterEach(() => site.stop());

const serverFile = () => JSON.parse(readFileSync(join(site.stateDir, "server.json"), "utf8"));
const events = (lines: readonly JsonObject[]) => lines.filter((line) => line["kind"] === "event");

async function started(call: Running): Promise<void> {
  await eventually(() => {
    if (!call.stdout().includes("job.started")) throw new Error(call.stdout() + call.stderr());
  });
}

/** Processes whose command line names the state directory. */
function redisServers(): string[] {
  const { stdout } = spawnSync("pgrep", ["-f", `redis-server.*${site.stateDir}`], { encoding: "utf8" });
  return stdout.split("\n").filter((pid) => pid !== "");
}

test("up says for people where it is, where the token lies, and how to add it to a client", async () => {
  const up = site.start("up", "--port", "0", "--log-level", "silent");
  await eventually(() => expect(up.stdout()).toContain("mcpServers"), 20_000);
  const { url, pid } = serverFile();
  expect(up.stdout()).toContain(`URL      ${url}`);
  expect(up.stdout()).toContain(`Token    in ${join(site.stateDir, "token")}`);
  expect(up.stdout()).toContain("gated → here   Wait at a gate");
  expect(up.stdout()).toContain(
    `claude mcp add --transport http tailrace ${url} --header "Authorization: Bearer $(cat `,
  );
  expect(up.stdout()).not.toContain(readFileSync(join(site.stateDir, "token"), "utf8").trim());
  expect(pid).toBe(up.child.pid);
  expect(statSync(join(site.stateDir, "server.json")).mode & 0o777).toBe(0o600);
  expect(up.stderr()).toBe("");
  expect((await stopServer(up, "SIGINT")).code).toBe(0);
});

test("a SIGTERM gives everything back: no Redis, no socket, no address is left", async () => {
  const up = await site.serve("up", "--port", "0");
  expect(redisServers()).not.toEqual([]);
  expect((await stopServer(up)).code).toBe(0);
  expect(redisServers()).toEqual([]);
  expect(existsSync(join(site.stateDir, "redis.sock"))).toBe(false);
  expect(existsSync(join(site.stateDir, "server.json"))).toBe(false);
});

test("a second signal ends the process at once", async () => {
  const up = await site.serve("up", "--port", "0");
  const [redis] = redisServers().map(Number).slice(-1);
  if (redis === undefined) throw new Error("no Redis");
  // A store that hangs keeps a graceful end waiting.
  process.kill(redis, "SIGSTOP");
  try {
    const signals = setInterval(() => up.child.kill("SIGTERM"), 50);
    const { code } = await up.ended.finally(() => clearInterval(signals));
    expect(code).toBe(143);
  } finally {
    process.kill(redis, "SIGKILL");
  }
});

test("a call goes on over a killed server that comes back, with every event once and in order", async () => {
  const gate = site.gate();
  const first = await site.serve("up", "--port", "0");
  const call = site.start("call", "gated", "-a", `gate=${gate.path}`, "--json");
  await started(call);
  await stopServer(first, "SIGKILL");
  await eventually(() => expect(call.stderr()).toContain("the server does not answer"));
  const second = await site.serve("up", "--port", new URL(first.url).port);
  expect(second.url).toBe(first.url);
  gate.open();
  const { code, stdout } = await call.ended;
  const lines = parseLines(stdout);
  expect(events(lines).map(({ seq }) => seq)).toEqual(events(lines).map((_, index) => index));
  expect(events(lines).at(-1)).toMatchObject({ type: "dev.tailrace.task.ended" });
  expect(code).toBe(0);
});

test("a server that is stopped ends its streams, and a call finds its successor on another port", async () => {
  const gate = site.gate();
  const first = await site.serve("up", "--port", "0");
  const call = site.start("call", "gated", "-a", `gate=${gate.path}`, "--json");
  await started(call);
  await stopServer(first);
  gate.open();
  await site.serve("up", "--port", "0");
  const { code, stdout } = await call.ended;
  const lines = parseLines(stdout);
  expect(events(lines).map(({ seq }) => seq)).toEqual(events(lines).map((_, index) => index));
  expect(code).toBe(0);
});

test("front desk and workers in processes of their own share one store", async () => {
  const desk = await site.serve("serve", "--port", "0");
  const work = await site.serve("work", "--target", "here");
  expect(work.ready).toMatchObject({ url: null, targets: ["here"] });
  expect((await site.run("call", "gated")).code).toBe(0);
  expect((await stopServer(desk)).code).toBe(0);
  expect(redisServers()).not.toEqual([]);
  expect((await stopServer(work)).code).toBe(0);
  expect(redisServers()).toEqual([]);
});

test("a port that is taken is told, with whom to ask and what to do", async () => {
  const up = await site.serve("up", "--port", "0");
  const { port } = new URL(up.url);
  const again = await site.run("up", "--port", port);
  expect(again.code).toBe(1);
  expect(again.stderr).toContain(
    `port ${port} on 127.0.0.1 is taken, perhaps by the tailrace with pid ${up.child.pid}`,
  );
  expect(again.stderr).not.toMatch(/^\s+at /m);
  expect(serverFile().pid).toBe(up.child.pid);
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const taken = await site.run("up", "--port", String((other.address() as AddressInfo).port));
  expect(taken.stderr).toMatch(/is taken, by another program\. .*--port/);
  other.close();
});

test("without Redis on PATH, one line says so and what to do", async () => {
  const bin = join(site.dir, "bin");
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, "node"));
  const { code, stderr, stdout } = await runCli(
    ["up", "--config", site.config, "--state-dir", site.stateDir],
    {
      env: { PATH: bin },
    },
  );
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^tailrace: .*no redis-server or valkey-server on PATH.*install.*\n$/);
});

test("a state directory that cannot be is told with what to do", async () => {
  const { code, stderr } = await runCli([
    "up",
    "--config",
    site.config,
    "--state-dir",
    join(site.config, "x"),
  ]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^tailrace: the state directory .*cannot be used.*--state-dir\n$/);
});

test("an address of another machine is told with what to do", async () => {
  const { code, stderr } = await site.run("up", "--port", "0", "--host", "192.0.2.1");
  expect(code).toBe(1);
  expect(stderr).toMatch(/tailrace: "192\.0\.2\.1" is no address of this machine: .*--host/);
});

test("all problems of a configuration are told with their lines, whichever command meets them", async () => {
  const broken = join(site.dir, "broken.yaml");
  writeFileSync(
    broken,
    "targets:\n  here: { scheduler: nowhere }\ntools:\n  a: { target: here, wrong: 1 }\n",
  );
  for (const command of ["validate", "up", "doctor", "list"]) {
    const { code, stderr, stdout } = await runCli([command, "--config", broken]);
    expect([command, code, stdout]).toEqual([command, 2, ""]);
    expect(stderr).toMatch(/broken\.yaml:2:\d+ targets\.here/);
    expect(stderr).toMatch(/broken\.yaml:4:\d+ tools\.a/);
  }
  expect(existsSync(site.stateDir)).toBe(false);
});

test("validate shows what a sound configuration defines, and starts nothing", async () => {
  const { code, stdout } = await runCli(["validate"], { cwd: dirname(site.config) });
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /tailrace\.yaml: no problems[\s\S]*here +local +1[\s\S]*gated +here +gated\.sh +gate, code/,
  );
  expect(existsSync(site.stateDir)).toBe(false);
});

test.each([
  [["up", "--prot", "1"], /unknown option '--prot'/],
  [["up", "--port", "99999"], /0 to 65535/],
  [["work", "--target", "nowhere"], /nowhere/],
  [["watch", "no/id"], /no task id/],
  [["call"], /missing required argument 'tool'/],
  [["call", "x", "--patience", "soon"], /90s, 10m or 2h/],
  [["dance"], /unknown command/],
])("a fault of the command line %j exits with 2 and says what was wrong", async (args, said) => {
  const { code, stderr, stdout } = await startCli(args).ended;
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(said);
});

test("help tells the exit codes", async () => {
  const { code, stdout } = await runCli(["--help"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Exit codes:\n {2}0 +done/);
});

test("doctor fails when something is broken, and says what to do about it", async () => {
  await site.stop();
  site = createSite({
    tools: {
      lost: {
        description: "Runs what is not here.",
        target: "here",
        run: { argv: ["no-such-solver"] },
        resources: { walltime: "1m" },
      },
    },
  });
  mkdirSync(site.stateDir, { mode: 0o700 });
  writeFileSync(join(site.stateDir, "token"), "not a token\n", { mode: 0o644 });
  const { code, stdout } = await site.run("doctor");
  expect(code).toBe(1);
  expect(stdout).toMatch(/fail {2}access: token file: .*may be read by others/);
  expect(stdout).toMatch(/fail {2}tools: lost: no-such-solver is not here.*\n +→ install it/);
});
