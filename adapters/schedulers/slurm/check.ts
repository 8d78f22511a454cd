import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { CheckLine } from "../../../src/domain/adapter.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { unlessCode, writeOnce } from "../shared/atomic-file.ts";
import { shellWord } from "../shared/job-files.ts";
import { answerOf, callSlurm, failureOf } from "./ask-slurm.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import { resourceArguments } from "./commands.ts";
import { SlurmOptions } from "./options.ts";
import { queueOf } from "./queue.ts";
import type { SlurmRoom } from "./room.ts";
import { readState } from "./states.ts";
import { readSubmit } from "./submit-answer.ts";

const PROBE_MS = 20_000;
const LOOK_MS = 500;

/** What doctor shows for a Slurm target. Sends one job of a minute that writes one file, and cancels it if it waits. */
export async function checkCluster(
  room: SlurmRoom,
  defaults: JsonObject,
  signal: AbortSignal,
): Promise<CheckLine[]> {
  const controller = await checkController(room, signal);
  const here = await checkWorkdir(room);
  if (!controller.ok) return [controller, here];
  const facts = await room.facts.get(room, signal);
  const probe = here.ok ? [await checkProbe(room, defaults, signal)] : [];
  return [controller, ...describeFacts(room, facts), here, ...probe, describePace(room)];
}

async function checkController(room: SlurmRoom, signal: AbortSignal): Promise<CheckLine> {
  const what = "Slurm's controller";
  const version = await callSlurm(room, "sbatch", ["--version"], { signal });
  signal.throwIfAborted();
  if (version.exitCode !== 0) {
    const advice = "install Slurm's client programs, or give their paths under commands";
    return { what, ok: false, found: `sbatch ${failureOf(version, 0)}`, advice };
  }
  try {
    await answerOf(room, "scontrol", ["ping"], { signal });
    return { what, ok: true, found: `up; client is ${version.stdout.trim()}`, advice: null };
  } catch (error) {
    signal.throwIfAborted();
    const found = error instanceof Error ? error.message : String(error);
    const advice = "is slurmctld up, and do slurmConf (or SLURM_CONF) and munge fit it? Try: scontrol ping";
    return { what, ok: false, found, advice };
  }
}

function describeFacts(room: SlurmRoom, facts: ClusterFacts): CheckLine[] {
  const kept = facts.minJobAgeSeconds ?? 300;
  const asks = facts.accounting && room.config.accounting !== "off";
  const isTracked = facts.proctrack !== "proctrack/pgid";
  const hides = facts.privateData.includes("jobs");
  return [
    line("accounting", asks ? "on: sacct tells how jobs ended that left the queue" : "off", {
      advice: asks
        ? null
        : `an end is told by Slurm for ${kept} s (MinJobAge), later by the job's own exit record alone`,
    }),
    line(
      "cluster",
      `${facts.clusterName ?? "?"}, Slurm ${facts.version ?? "?"}, ${facts.controllers} controllers`,
      {},
    ),
    line("stopping a job", `KILL comes ${facts.killWaitSeconds ?? 30} s after TERM (KillWait)`, {}),
    {
      what: "process tracking",
      // The script leaves the wrapper's process group: neither TERM nor KILL of Slurm would reach it.
      ok: isTracked,
      found: facts.proctrack ?? "not told",
      advice: isTracked
        ? null
        : "a cancelled job would live on: proctrack/cgroup (or linuxproc) holds all of it",
    },
    line("requests that can never run", `EnforcePartLimits=${facts.enforcePartLimits ?? "?"}`, {
      advice:
        facts.enforcePartLimits === "NO"
          ? "such jobs are accepted and wait for ever; their tasks say why. ALL refuses them at once"
          : null,
    }),
    line("who sees whose jobs", hides ? "each user only his own (PrivateData)" : "everybody sees all", {}),
  ];
}

function line(
  what: string,
  found: string,
  { advice = null }: { readonly advice?: string | null },
): CheckLine {
  return { what, ok: true, found, advice };
}

async function checkWorkdir(room: SlurmRoom): Promise<CheckLine> {
  const what = `job directory ${room.workdir}`;
  const probe = join(room.workdir, `.probe-${randomBytes(6).toString("hex")}`);
  try {
    await writeOnce(probe, "x");
    await rm(probe, { force: true });
    return { what, ok: true, found: "writable here, with hard links", advice: null };
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    const advice = "set workdir to a writable directory of a file system that the nodes share";
    return { what, ok: false, found, advice };
  }
}

/** The directory as a job sees it: another mount, another user or a read-only node show here and nowhere else. */
async function checkProbe(room: SlurmRoom, defaults: JsonObject, signal: AbortSignal): Promise<CheckLine> {
  const what = "the job directory as a job sees it";
  const directory = join(room.workdir, `.probe-${randomBytes(8).toString("hex")}`);
  await mkdir(directory, { mode: 0o700 });
  let id: string | null = null;
  try {
    const sent = await sendProbe(room, { directory, defaults }, signal);
    if ("problem" in sent) {
      const advice = "give what this cluster asks of every job under defaults (account, partition, qos)";
      return { what, ok: false, found: `a job of a minute was not taken: ${sent.problem}`, advice };
    }
    id = sent.id;
    return await awaitProbe(room, { what, directory, id }, signal);
  } finally {
    const within = AbortSignal.timeout(room.config.queryTimeoutSeconds * 1000);
    if (id !== null) await callSlurm(room, "scancel", [id], { signal: within });
    await rm(directory, { recursive: true, force: true });
  }
}

async function sendProbe(
  room: SlurmRoom,
  { directory, defaults }: { readonly directory: string; readonly defaults: JsonObject },
  signal: AbortSignal,
): Promise<{ readonly id: string } | { readonly problem: string }> {
  const parsed = SlurmOptions.safeParse(defaults);
  if (!parsed.success) return { problem: "defaults cannot be read" };
  const spec = { resources: { cpus: 1, gpus: 0, walltimeSeconds: 60 } };
  const args = [
    "--parsable",
    `--job-name=tr-${room.instance}-doctor`,
    `--chdir=${directory}`,
    "--output=/dev/null",
    "--export=NONE",
    ...resourceArguments({ spec, options: { ...parsed.data, mail: undefined } }),
  ];
  const stdin = `#!/bin/sh\numask 077\nuname -n > ${shellWord(join(directory, "seen"))}\n`;
  const result = await callSlurm(room, "sbatch", args, { signal, stdin });
  signal.throwIfAborted();
  const reading = readSubmit(result, room.facts.known?.controllers ?? null);
  if (reading.kind === "accepted") return { id: reading.id };
  return { problem: reading.kind === "rejected" ? reading.reason : reading.why };
}

type Probe = { readonly what: string; readonly directory: string; readonly id: string };

async function awaitProbe(room: SlurmRoom, probe: Probe, signal: AbortSignal): Promise<CheckLine> {
  const { what, directory, id } = probe;
  const deadline = room.now() + PROBE_MS;
  for (;;) {
    const seen = await unlessCode(["ENOENT"], null, () => readFile(join(directory, "seen"), "utf8"));
    if (seen !== null && seen !== "")
      return { what, ok: true, found: `written by a job on ${seen.trim()}`, advice: null };
    if (room.now() > deadline) break;
    await delay(LOOK_MS, undefined, { signal });
  }
  const { rows } = await queueOf(room, [id], signal);
  const row = rows.find((one) => one.id === id);
  const reading = row === undefined ? null : readState(row.state, row.reason);
  if (reading?.kind === "queued" || reading?.kind === "held")
    return {
      what,
      ok: true,
      found: "not tested",
      advice: `the test job still waits: ${reading.reason ?? "no reason is told"}`,
    };
  return {
    what,
    ok: false,
    found: `batch job ${id} ran (${row?.state ?? "forgotten"}) and what it wrote is not seen here after ${PROBE_MS / 1000} s`,
    advice: "is this path the same shared directory on the nodes, writable for this user?",
  };
}

function describePace(room: SlurmRoom): CheckLine {
  const perMinute = Math.ceil(60 / room.config.pollSeconds);
  const found = `at most ${perMinute} squeue and 6 sacct calls a minute, whatever the number of jobs`;
  return { what: "load on the controller", ok: true, found, advice: null };
}
