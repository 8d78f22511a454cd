import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { TailraceError } from "../domain/errors.ts";
import type { RedisAddress } from "./connect.ts";
import { findBinaries, preparePlace } from "./embedded-place.ts";
import { ensureServer, type ServerSetup, waitUntilFree } from "./embedded-server.ts";
import { ask, otherClients } from "./embedded-talk.ts";

export type EmbeddedOptions = {
  /** Belongs to one host: not to be shared over NFS by several. */
  readonly stateDir: string;
  /** PATH. */
  readonly searchPath: string;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  /** A quarter of the machine's memory when not given; a server that runs already keeps what it has. */
  readonly maxMemoryMib?: number;
  readonly startTimeoutMs?: number;
};

export type EmbeddedRedis = {
  readonly address: RedisAddress;
  /** `reused`: a server that an earlier or another process of ours started. */
  readonly origin: "started" | "reused";
  /** To be called when our own connections are closed. Leaves the server to other processes that still use it. */
  stop(): Promise<"stopped" | "in_use">;
};

const START_TIMEOUT_MS = 15_000;
const RETRY_MS = 500;
const LEAVE_MS = 500;
const SHUTDOWN_MS = 10_000;

/**
 * A private Redis or Valkey on a unix socket in the state directory, with every write on disk before it is acknowledged.
 * It is started again when it dies: each process that uses it watches, and the lock lets one of them win.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedRedis> {
  const setup: ServerSetup = {
    place: preparePlace(options.stateDir),
    binaries: findBinaries(options.searchPath),
    maxMemoryMib: options.maxMemoryMib,
    startTimeoutMs: options.startTimeoutMs ?? START_TIMEOUT_MS,
  };
  const stopping = new AbortController();
  const origin = await ensureServer(setup, stopping.signal);
  const guard = guardServer(setup, options.logger, stopping.signal);
  let stopped: Promise<"stopped" | "in_use"> | null = null;
  return {
    address: { path: setup.place.socket },
    origin,
    stop() {
      stopped ??= stopServer(setup, guard, stopping);
      return stopped;
    },
  };
}

type Guard = { readonly leave: () => Promise<void> };

/** Holds one connection, whose end tells at once that the server is gone, and starts it again until told to leave. */
function guardServer(setup: ServerSetup, logger: EmbeddedOptions["logger"], signal: AbortSignal): Guard {
  let held: Socket;
  let reviving: Promise<void> = Promise.resolve();
  const hold = () => {
    held = connect(setup.place.socket).unref();
    held.on("error", () => undefined); // `close` follows, and is what counts
    held.once("close", () => {
      if (!signal.aborted) reviving = revive();
    });
  };
  const revive = async () => {
    logger.warn({ event: "store.embedded_lost" }, "the embedded Redis is gone; starting it again");
    for (let tries = 1; !signal.aborted; tries += 1) {
      try {
        const origin = await ensureServer(setup, signal);
        logger.info({ event: "store.embedded_back", origin }, "the embedded Redis is back");
        return hold();
      } catch (error) {
        if (signal.aborted) return;
        logger.error(
          { event: "store.embedded_failed", err: error },
          "the embedded Redis does not start; retrying",
        );
      }
      await delay(RETRY_MS * Math.min(tries, 10), undefined, { ref: false });
    }
  };
  hold();
  return {
    async leave() {
      held.destroy();
      await reviving;
      held.destroy();
    },
  };
}

async function stopServer(
  setup: ServerSetup,
  guard: Guard,
  stopping: AbortController,
): Promise<"stopped" | "in_use"> {
  stopping.abort();
  await guard.leave();
  const { socket } = setup.place;
  // The server notices a moment later that our connections are closed.
  const deadline = performance.now() + LEAVE_MS;
  let others = await otherClients(socket);
  while (others !== null && others > 0 && performance.now() < deadline) {
    await delay(20);
    others = await otherClients(socket);
  }
  if (others !== null && others > 0) return "in_use";
  await ask(socket, "SHUTDOWN");
  if (await waitUntilFree(setup, SHUTDOWN_MS)) return "stopped";
  throw new TailraceError(
    "store_unavailable",
    `the embedded Redis does not stop: see ${setup.place.logFile}`,
  );
}
