import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadSettings } from "../../../src/config/load.ts";
import { Tuning } from "../../../src/domain/tuning.ts";
import { CAVITY, EXAMPLE, load, loadedOf, settingsOf, tempFolder, toolText } from "../../support/config.ts";

test("the design's example becomes these settings", async () => {
  const cwd = tempFolder();
  const { settings, warnings, file } = await loadedOf(EXAMPLE, { cwd, files: { "cavity.sh": CAVITY } });
  expect(file).toBe(join(cwd, "tailrace.yaml"));
  expect(warnings).toEqual([]);
  const { tools, ...rest } = settings;
  expect(rest).toEqual({
    stateDir: `/home/op/.local/state/tailrace/${hostname()}`,
    instance: "local",
    store: {
      url: null,
      prefix: "{tr}",
      durability: "strict",
      eventPrefix: "dev.tailrace",
      claimTtlMs: 400 * 86_400_000,
    },
    listen: { host: "127.0.0.1", port: 7717, allowedHosts: [], allowedOrigins: [] },
    auth: { kind: "drawn" },
    limits: { inlineWaitMs: 20_000, streamsPerCaller: 64, streamsPerTask: 16 },
    defaults: { here: {}, cluster: { partition: "batch", account: "cfd" }, k8s: {} },
    targets: {
      here: { scheduler: "local", maxConcurrent: 2, graceSeconds: 10, pollIntervalMs: 500 },
      cluster: {
        scheduler: "local",
        workdir: "/shared/tailrace",
        maxConcurrent: 1,
        graceSeconds: 10,
        pollIntervalMs: 500,
      },
      k8s: { scheduler: "local", maxConcurrent: 1, graceSeconds: 10, pollIntervalMs: 500 },
    },
    tuning: Tuning.parse({}),
  });
  expect(tools).toEqual([
    {
      name: "run_cfd_case",
      title: "Run a lid-driven cavity",
      description: "Solves the case with icoFoam and returns residual history and final fields.",
      target: "cluster",
      inputSchema: {
        type: "object",
        properties: {
          reynolds: { type: "number", minimum: 1, maximum: 10_000 },
          endTime: { type: "number", default: 0.5 },
        },
        required: ["reynolds"],
        additionalProperties: false,
      },
      outputSchema: null,
      checkArguments: expect.any(Function),
      run: { kind: "script", name: "cavity.sh", text: CAVITY },
      env: { TAILRACE_CONFIG_DIR: cwd },
      resources: { cpus: 2, memoryMib: 4096, walltimeSeconds: 1800, gpus: 0 },
      solver: "openfoam",
      progress: { total: `\${args.endTime}`, unit: "s" },
      outputs: ["postProcessing/**", "log.*"],
      idempotency: "required",
      idempotencyWindowMs: 86_400_000,
      tasks: "optional",
      ttlMs: 7 * 86_400_000,
      options: { partition: "batch", account: "cfd" },
    },
  ]);
});

test("without a file there is a local target and no tool, and the caller is told that there was no file", async () => {
  const loaded = await loadSettings({ path: null, env: { HOME: "/home/op" }, cwd: tempFolder() });
  expect(loaded).toMatchObject({
    kind: "ok",
    file: null,
    warnings: [],
    settings: { targets: { here: { scheduler: "local" } }, tools: [] },
  });
});

test("an empty file has the same defaults, but is a file", async () => {
  const { settings, file } = await loadedOf("# nothing yet\ntools:\n");
  expect(settings.tools).toEqual([]);
  expect(file).not.toBeNull();
});

test("a file that was named must be there, whoever named it", async () => {
  const cwd = tempFolder();
  const byOption = await loadSettings({ path: "other.yaml", env: {}, cwd });
  expect(byOption).toEqual({
    kind: "problems",
    problems: [{ file: "other.yaml", line: null, column: null, field: "", message: "does not exist" }],
  });
  const byVariable = await loadSettings({ path: null, env: { TAILRACE_CONFIG: "/no/such.yaml" }, cwd });
  expect(byVariable).toMatchObject({ kind: "problems", problems: [{ file: "/no/such.yaml" }] });
});

test("TAILRACE_CONFIG names the file, and --config wins over it", async () => {
  const files = { "a.yaml": "instance: a", "b.yaml": "instance: b" };
  const env = { HOME: "/home/op", TAILRACE_CONFIG: "a.yaml" };
  expect((await settingsOf("instance: c", { files, env })).instance).toBe("a");
  expect((await settingsOf("instance: c", { files, env, path: "b.yaml" })).instance).toBe("b");
});

test("the command line wins over the file, the file over the environment", async () => {
  const text =
    "stateDir: state\nlisten: { host: localhost, port: 1 }\ntargets: { a: { scheduler: local }, b: { scheduler: local } }\n";
  const cwd = tempFolder();
  const env = { HOME: "/home/op", TAILRACE_STATE_DIR: "/elsewhere" };
  const plain = await settingsOf(text, { cwd, env });
  expect(plain).toMatchObject({ stateDir: join(cwd, "state"), listen: { host: "localhost", port: 1 } });
  const overrides = { host: "127.0.0.2", port: 0, stateDir: "mine", targets: ["b"] };
  const settings = await settingsOf(text, { cwd, env, overrides });
  expect(settings).toMatchObject({ stateDir: join(cwd, "mine"), listen: { host: "127.0.0.2", port: 0 } });
  expect(Object.keys(settings.targets)).toEqual(["b"]);
});

test("options that cannot be are problems, named as options", async () => {
  const overrides = { host: "http://x", port: 70_000, targets: ["nowhere"] };
  const loaded = await load("", { overrides });
  expect(loaded.kind === "problems" && loaded.problems.map((one) => one.file).sort()).toEqual([
    "--host",
    "--port",
    "--targets",
  ]);
});

test("the state directory comes from the environment where nothing else names it", async () => {
  const of = async (env: Record<string, string>) =>
    (await settingsOf("", { env, cwd: tempFolder() })).stateDir;
  expect(await of({ TAILRACE_STATE_DIR: "/s", XDG_STATE_HOME: "/x" })).toBe("/s");
  expect(await of({ XDG_STATE_HOME: "/x" })).toBe(`/x/tailrace/${hostname()}`);
  expect(await of({ XDG_STATE_HOME: "relative", HOME: "/h" })).toBe(`/h/.local/state/tailrace/${hostname()}`);
});

test("the folder of the file is where relative paths start, ~/ is the home directory", async () => {
  const cwd = tempFolder();
  const text = `stateDir: ~/state\ntargets: { here: { scheduler: local, workdir: jobs } }\n${toolText("run: { script: bin/run.sh }")}`;
  const files = { "conf/tr.yaml": text, "conf/bin/run.sh": CAVITY };
  const settings = await settingsOf("", { cwd, files, path: "conf/tr.yaml" });
  expect(settings.stateDir).toBe("/home/op/state");
  expect(settings.targets["here"]).toMatchObject({ workdir: join(cwd, "conf", "jobs") });
  expect(settings.tools[0]?.run).toEqual({ kind: "script", name: "run.sh", text: CAVITY });
});

test("a file of another kind is refused", async () => {
  const loaded = await load("", { files: { "tailrace.toml": "" }, path: "tailrace.toml" });
  expect(loaded).toMatchObject({
    kind: "problems",
    problems: [{ message: expect.stringContaining(".yaml") }],
  });
});
