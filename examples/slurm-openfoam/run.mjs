// A real OpenFOAM case as a batch job: starts Tailrace, calls the tool, shows its residuals as they come and checks what
// came of it. Exit code 0: everything was as it must be. Usage: node run.mjs [directory that the nodes share]
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { prepare } from "../cavity/prepare.mjs";

const HERE = new URL(".", import.meta.url).pathname;
const CLI = new URL("../../dist/src/cli.js", import.meta.url).pathname;
const ARGUMENTS = { reynolds: 100, cells: 60, endTime: 4 };
const SHOW_EVERY_MS = 500;

const shared = resolve(process.argv[2] ?? homedir());
/** What is undone at the end, the newest first. */
const undo = [];
let serverLog = "";
/** When a residual was last shown. */
let shownMs = Number.NEGATIVE_INFINITY;
/** `tailrace call`, while it runs: a signal ends it, and with it this program, in order. */
let caller = null;
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => caller?.kill("SIGINT"));
try {
  requireCluster();
  if (!existsSync(CLI)) prepare();
  const folder = mkdtempSync(join(shared, "tailrace-openfoam-"));
  undo.push(async () => rmSync(folder, { recursive: true, force: true }));
  const { config, workdir } = writeSite(folder);
  // The store's own socket and files belong on a local disk.
  const stateDir = mkdtempSync(join(tmpdir(), "tailrace-openfoam-"));
  undo.push(async () => rmSync(stateDir, { recursive: true, force: true }));
  const site = ["--config", config, "--state-dir", stateDir];
  say(`1. Tailrace is up at ${await startServer(site)}; jobs lie in ${workdir}`);
  say(`\n2. tailrace call run_icofoam ${JSON.stringify(ARGUMENTS)}`);
  const called = await call(site);
  inspect(called, workdir);
} catch (error) {
  fail(error);
}
for (const step of undo.reverse()) await step().catch(fail);
if (!process.exitCode) say("\nEverything was as it must be: exit 0.");

/** What one of Slurm's programs prints. */
function slurm(program, ...argv) {
  return execFileSync(program, argv, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 30_000,
  });
}

function fail(error) {
  process.stderr.write(`run: ${error instanceof Error ? error.message : error}\n${serverLog}`);
  process.exitCode = 1;
}

function requireCluster() {
  if (!process.env.SLURM_CONF)
    throw new Error(
      "SLURM_CONF names no cluster. On a machine of a cluster it is mostly /etc/slurm/slurm.conf: export SLURM_CONF=…\n" +
        'Without one, as root on Debian: eval "$(npm run --silent slurm:up)" starts a small one on this machine.',
    );
  try {
    slurm("scontrol", "ping");
  } catch (error) {
    throw new Error(`the cluster of ${process.env.SLURM_CONF} does not answer: ${error.message}`);
  }
}

/** The configuration and the script, with a job directory that is there. */
function writeSite(folder) {
  const workdir = join(folder, "jobs");
  mkdirSync(workdir);
  const text = readFileSync(join(HERE, "tailrace.yaml"), "utf8");
  const config = join(folder, "tailrace.yaml");
  writeFileSync(
    config,
    text.replace(/workdir: .*/, () => `workdir: ${JSON.stringify(workdir)}`),
  );
  copyFileSync(join(HERE, "run_icofoam.sh"), join(folder, "run_icofoam.sh"));
  return { config, workdir };
}

async function startServer(site) {
  const argv = [CLI, "up", ...site, "--port", "0", "--ready-json"];
  const server = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "pipe"] });
  server.stderr.on("data", (chunk) => {
    serverLog = (serverLog + chunk).slice(-20_000);
  });
  const gone = once(server, "exit").then(() => [null]);
  undo.push(async () => {
    server.kill("SIGTERM");
    await gone;
  });
  const [line] = await Promise.race([once(createInterface({ input: server.stdout }), "line"), gone]);
  if (line === null) throw new Error(`Tailrace did not start (exit code ${server.exitCode})`);
  return JSON.parse(line).url;
}

/** Follows the task to its end. Its job is asked for at Slurm itself as soon as its number is known. */
async function call(site) {
  const argv = [CLI, "call", "run_icofoam", ...site, "--args-json", JSON.stringify(ARGUMENTS), "--json"];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  caller = child;
  const called = { events: [], job: null, result: null, code: null };
  for await (const line of createInterface({ input: child.stdout })) {
    const message = JSON.parse(line);
    if (message.kind === "result") called.result = message.task;
    if (message.kind !== "event") continue;
    called.events.push(message);
    show(message);
    if (message.type === "dev.tailrace.job.submitted") called.job = askSlurm(message.payload.jobId);
  }
  [called.code] = await ended;
  return called;
}

/** scancel says nothing of a job that has ended. Its directory can go when no process writes there any more. */
async function endJob(id) {
  slurm("scancel", id);
  for (let tries = 0; tries < 120; tries++) {
    if (slurm("squeue", "--noheader", `--jobs=${id},${id}`).trim() === "") return;
    await delay(500);
  }
  throw new Error(`batch job ${id} has not ended a minute after scancel`);
}

function askSlurm(id) {
  undo.push(() => endJob(id));
  const format = "%i|%j|%T|%P";
  // One id that is not known is an error of squeue; the same one twice is none.
  const rows = slurm("squeue", "--noheader", "--states=all", `--jobs=${id},${id}`, `--format=${format}`);
  const [row = ""] = rows.split("\n");
  const [number, name, state, partition] = row.split("|");
  say(`   squeue: job ${number}, ${name}, ${state} in partition ${partition}`);
  return { id: number, name, state };
}

function show({ seq, type, payload }) {
  const name = type.replace("dev.tailrace.", "");
  if (name === "solver.residual") {
    if (payload.field !== "Ux" || performance.now() - shownMs < SHOW_EVERY_MS) return;
    shownMs = performance.now();
    return say(
      `   t = ${payload.time.value.toFixed(3)} s   initial residual of Ux ${payload.value.toExponential(2)}`,
    );
  }
  if (/^(task|job|artifact)\./.test(name) || name === "solver.started") say(`   #${seq} ${name}`);
}

function inspect({ events, job, result, code }, workdir) {
  say("\n3. What came of it");
  const { outcome, artifacts, result: summary } = result?.result?.structuredContent ?? {};
  check(code === 0, `tailrace call ended with exit code ${code}: ${JSON.stringify(result)}`);
  check(outcome?.kind === "succeeded", `the outcome is ${JSON.stringify(outcome)}`);
  check(
    events.every(({ seq }, index) => seq === index),
    "the events are not 0, 1, 2, … without a gap",
  );
  const solver = events.find(({ type }) => type === "dev.tailrace.solver.started")?.payload;
  check(/openfoam/i.test(solver?.solver ?? ""), `no banner of OpenFOAM was read: ${JSON.stringify(solver)}`);
  say(
    `   ${outcome.kind}, verdict ${outcome.verdict}, on ${outcome.node}; solver ${solver.solver} ${solver.version}`,
  );

  check(job?.name.startsWith("tr-example-"), `squeue did not know the job: ${JSON.stringify(job)}`);
  check(summary.batchJob === job.id, `the script ran as job ${summary.batchJob}, and not as ${job.id}`);
  check(Math.abs(summary.finalTime - ARGUMENTS.endTime) < 1e-3, `it ended at ${summary.finalTime} s`);
  say(`   batch job ${job.id} of Slurm, ${summary.cells} × ${summary.cells} cells, ${summary.finalTime} s`);

  for (const field of ["Ux", "Uy", "p"]) checkResiduals(events, field);
  const names = artifacts.map(({ name }) => name).sort();
  check(names.join() === "fields/U,fields/p,log.blockMesh,result.json", `the artifacts are ${names.join()}`);
  for (const { name, bytes, sha256 } of artifacts) {
    const found = readFileSync(join(workdir, job.name, "work", name));
    const hash = createHash("sha256").update(found).digest("hex");
    check(hash === sha256 && found.length === bytes, `${name} is not what was announced`);
    say(`   ${name.padEnd(14)} ${String(bytes).padStart(7)} bytes  sha256 ${sha256.slice(0, 12)}…`);
  }
}

function checkResiduals(events, field) {
  const values = events
    .filter(({ type, payload }) => type === "dev.tailrace.solver.residual" && payload.field === field)
    .map(({ payload }) => payload.value);
  const greatest = Math.max(...values);
  const last = values.at(-1);
  check(values.length >= 5, `only ${values.length} residuals of ${field} came`);
  check(last < greatest / 100, `the residual of ${field} did not fall: from ${greatest} to ${last}`);
  say(
    `   ${field.padEnd(2)}  ${values.length} residuals streamed, from ${greatest} down to ${last.toExponential(2)}`,
  );
}

function check(holds, complaint) {
  if (!holds) throw new Error(complaint);
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
