// npm run demo: the whole of Tailrace in under a minute. Every step checks what it shows; a wrong answer ends it with 1.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { prepare } from "./prepare.mjs";

const ROOT = new URL("../../", import.meta.url).pathname;
const CONFIG = new URL("tailrace.yaml", import.meta.url).pathname;
const KEY = "demo-1";
const ARGUMENTS = { reynolds: 400, grid: 48, endTime: 25 };
/** The cut comes after this many events with residuals, well before the job's end. */
const CUT_AFTER = 60;
/** When a residual was last shown. */
let shownMs = 0;
/** The newest residual of each field. */
const newest = new Map();

prepare();
const { createMcpClient } = await import("../../dist/src/cli/client/mcp-client.js");

const stateDir = await mkdtemp(join(tmpdir(), "tailrace-demo-"));
const server = spawn(
  process.execPath,
  [
    join(ROOT, "dist/src/cli.js"),
    "up",
    "--config",
    CONFIG,
    "--state-dir",
    stateDir,
    "--port",
    "0",
    "--ready-json",
  ],
  { stdio: ["ignore", "pipe", "pipe"] },
);
let serverLog = "";
server.stderr.on("data", (chunk) => {
  serverLog = (serverLog + chunk).slice(-20_000);
});

try {
  await demo();
} catch (error) {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : error}\n${serverLog}`);
  process.exitCode = 1;
} finally {
  if (server.exitCode === null) {
    const ended = once(server, "exit");
    server.kill("SIGTERM");
    await ended;
  }
  await rm(stateDir, { recursive: true, force: true });
}
if (process.exitCode === undefined || process.exitCode === 0) say("\nThe demo is done: exit 0.");

async function demo() {
  const { url, tokenFile } = await readiness();
  say(`\n1. Tailrace is up at ${url}, with a Redis of its own and a token drawn for this run.`);
  const token = (await readFile(tokenFile, "utf8")).trim();
  const client = createMcpClient(async () => ({ url, token }));

  const started = performance.now();
  const task = await callTool(client);
  say(`\n2. tools/call run_cfd_case ${JSON.stringify(ARGUMENTS)}`);
  say(
    `   → a task (${task.status}) in ${Math.round(performance.now() - started)} ms, key ${JSON.stringify(KEY)}`,
  );

  say("\n3. tasks/stream: residuals as they come, until the connection is cut.");
  const events = [];
  await follow(client, task.taskId, { events, cutAfter: CUT_AFTER });
  const cutAt = events.at(-1).seq;
  check(
    (await getTask(client, task.taskId)).status === "working",
    "the job was over before the cut: nothing was shown",
  );
  say(`   ✂ connection cut after event ${cutAt}; the job goes on`);

  say(`\n4. tasks/stream with after: ${cutAt}: what was missed, then live again.`);
  const kept = events.length;
  await follow(client, task.taskId, { events, after: cutAt });
  check(events[kept].seq === cutAt + 1, `the stream resumed at ${events[kept].seq}, not at ${cutAt + 1}`);
  check(
    events.every((event, index) => event.seq === index),
    "the events are not 0, 1, 2, … without a gap",
  );
  const residuals = events.filter((event) => isResidual(event));
  check(residuals.length > CUT_AFTER, `only ${residuals.length} residual events came`);
  say(
    `   ${events.length} events, seq 0 to ${events.at(-1).seq}, no gap, none twice; ${residuals.length} with residuals`,
  );

  say("\n5. The same call with the same key again.");
  const again = await callTool(client);
  check(again.taskId === task.taskId, "the same key made another task");
  check(again._meta["dev.tailrace/existing"] === true, "the task is not said to exist already");
  say("   → the same task; nothing was started twice");

  const { status, result } = await getTask(client, task.taskId);
  check(
    status === "completed" && result.isError === false,
    `the task ended as ${status}: ${JSON.stringify(result)}`,
  );
  show(result);
}

function callTool(client) {
  const call = { name: "run_cfd_case", arguments: { ...ARGUMENTS, idempotencyKey: KEY } };
  return client.request("tools/call", call);
}

function getTask(client, taskId) {
  return client.request("tasks/get", { taskId });
}

/** Reads the stream to its end, or drops the connection once `cutAfter` events with residuals were shown. */
async function follow(client, taskId, { events, after, cutAfter = Number.POSITIVE_INFINITY }) {
  const cut = new AbortController();
  let residuals = 0;
  const onNotification = (_method, { seq, type, payload }) => {
    if (cut.signal.aborted) return;
    events.push({ seq, type, payload });
    showEvent({ type, payload });
    if (isResidual({ type }) && ++residuals >= cutAfter) cut.abort(new Error("cut"));
  };
  const params = after === undefined ? { taskId } : { taskId, after };
  await client.request("tasks/stream", params, { signal: cut.signal, onNotification }).catch((error) => {
    if (!cut.signal.aborted) throw error;
  });
}

function isResidual({ type }) {
  return type === "dev.tailrace.solver.residual";
}

/** One line for a step's residuals, a quarter of a second apart at least, so that a person can follow. */
function showEvent({ type, payload }) {
  const name = type.replace("dev.tailrace.", "");
  if (/^(task|job)\./.test(name)) say(`   ${name}`);
  if (name !== "solver.residual") return;
  newest.set(payload.field, payload.value);
  if (payload.field !== "p" || performance.now() - shownMs < 250) return;
  shownMs = performance.now();
  const values = [...newest].map(([field, value]) => `${field} ${Number(value).toExponential(2)}`);
  say(`   t = ${Number(payload.time.value).toFixed(3).padStart(7)}   residuals ${values.join("   ")}`);
}

function show({ content, structuredContent }) {
  const { outcome, artifacts, result } = structuredContent;
  say(`\n6. Result: ${outcome.kind}, verdict ${outcome.verdict} (${outcome.basis.join(", ")})`);
  say(`   ${String(content[0].text).split("\n")[0]}`);
  say(`   result.json: ${JSON.stringify(result).slice(0, 160)}`);
  for (const { name, bytes, mediaType, sha256 } of artifacts) {
    say(
      `   ${name.padEnd(18)} ${String(bytes).padStart(8)} bytes  ${mediaType}  sha256 ${sha256.slice(0, 12)}…`,
    );
  }
}

async function readiness() {
  const lines = createInterface({ input: server.stdout });
  const gone = once(server, "exit").then(() => null);
  const line = await Promise.race([once(lines, "line").then(([text]) => text), gone]);
  if (line === null) throw new Error(`the server did not start (exit code ${server.exitCode})`);
  return JSON.parse(line);
}

function check(holds, complaint) {
  if (!holds) throw new Error(complaint);
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
