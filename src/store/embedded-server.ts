import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { TailraceError } from "../domain/errors.ts";
import type { Binaries, EmbeddedPlace } from "./embedded-place.ts";
import { probe } from "./embedded-talk.ts";

export type ServerSetup = {
  readonly place: EmbeddedPlace;
  readonly binaries: Binaries;
  readonly maxMemoryMib: number | undefined;
  /** How long a server that does not load data may take to answer. */
  readonly startTimeoutMs: number;
};

/** What flock exits with when the lock is held; no exit code of redis-server's. */
const LOCK_HELD = 89;
const POLL_MS = 50;

/**
 * Makes sure that exactly one server serves the place, starting one if need be. Redis guards neither its directory nor its
 * socket: two on one directory would each keep half of the tasks. So it is started under `flock -n`, whose descriptor it
 * inherits: the lock is the server's own and goes with it, however it dies.
 */
export async function ensureServer(setup: ServerSetup, signal: AbortSignal): Promise<"started" | "reused"> {
  const { place } = setup;
  let server: ChildProcess | null = null;
  const deadline = performance.now() + setup.startTimeoutMs;
  for (;;) {
    signal.throwIfAborted();
    const state = await probe(place.socket);
    if (state === "ready") {
      await refuseForeign(setup);
      return server !== null && isAlive(server) ? "started" : "reused";
    }
    if (server !== null && !isAlive(server) && server.exitCode !== LOCK_HELD)
      throw failedToStart(place, server);
    // Loading the log of a full store may take minutes, and it says so.
    if (state !== "loading" && performance.now() > deadline) throw notAnswering(setup);
    if (state === "absent" && (server === null || !isAlive(server))) server = launch(setup);
    await delay(POLL_MS);
  }
}

/** Waits until no server holds the place's lock; false when it is still held at the deadline. */
export async function waitUntilFree(setup: ServerSetup, deadlineMs: number): Promise<boolean> {
  const deadline = performance.now() + deadlineMs;
  while (await isLocked(setup)) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

function launch({ place, binaries, maxMemoryMib }: ServerSetup): ChildProcess {
  const log = openSync(place.logFile, "a", 0o600);
  try {
    const args = [
      "-n",
      "-E",
      String(LOCK_HELD),
      place.lockFile,
      binaries.server,
      ...serverFlags(place, maxMemoryMib),
    ];
    // Detached: it outlives us, so that a Ctrl-C or a crash of ours is none of Redis's.
    const child = spawn(binaries.flock, args, {
      detached: true,
      stdio: ["ignore", log, log],
      cwd: place.dataDir,
    });
    child.once("error", () => undefined); // seen as an exit code by the loop that waits
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

function serverFlags(place: EmbeddedPlace, maxMemoryMib: number | undefined): string[] {
  const memory = maxMemoryMib ?? Math.max(256, Math.floor(totalmem() / 4 / 1024 / 1024));
  const settings = {
    port: "0",
    unixsocket: place.socket,
    unixsocketperm: "700",
    dir: place.dataDir,
    appendonly: "yes",
    appendfsync: "always",
    save: "",
    "maxmemory-policy": "noeviction",
    maxmemory: `${memory}mb`,
    // Event lists shrink to about a third.
    "list-compress-depth": "1",
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

function isAlive(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** A server whose state directory was deleted under it still answers, but what it writes is lost. */
async function refuseForeign(setup: ServerSetup): Promise<void> {
  if (await isLocked(setup)) return;
  throw new TailraceError(
    "store_mismatch",
    `the Redis server on ${setup.place.socket} does not hold ${setup.place.lockFile}: was the state directory replaced while it ran? Stop that server (redis-cli -s ${setup.place.socket} shutdown) and start again`,
  );
}

async function isLocked({ binaries, place }: ServerSetup): Promise<boolean> {
  const probe = spawn(binaries.flock, ["-n", "-E", String(LOCK_HELD), place.lockFile, "true"], {
    stdio: "ignore",
  });
  const [code] = await once(probe, "exit");
  return code === LOCK_HELD;
}

function failedToStart(place: EmbeddedPlace, server: ChildProcess): TailraceError {
  const how = server.exitCode === null ? `signal ${server.signalCode}` : `exit code ${server.exitCode}`;
  const said = readFileSync(place.logFile, "utf8").trimEnd().split("\n").slice(-5).join("\n");
  return new TailraceError(
    "store_unavailable",
    `the embedded Redis did not start (${how}). The end of ${place.logFile}:\n${said}`,
  );
}

function notAnswering({ place, startTimeoutMs }: ServerSetup): TailraceError {
  return new TailraceError(
    "store_unavailable",
    `a Redis server holds ${place.lockFile} but does not answer on ${place.socket} after ${startTimeoutMs} ms: it hangs, or runs on another host that shares this directory (then give each host its own state directory)`,
  );
}
