import { createHash } from "node:crypto";
import { accessSync, constants, lstatSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { TailraceError } from "../domain/errors.ts";

/** Where the embedded server lives. All of it can be told from the state directory, so that processes find each other. */
export type EmbeddedPlace = {
  readonly dataDir: string;
  readonly lockFile: string;
  readonly logFile: string;
  readonly socket: string;
};

export type Binaries = { readonly flock: string; readonly server: string };

/** The kernel takes 107 bytes and Node cuts longer paths silently; Redis appends to the path while it binds. */
const MAX_SOCKET_BYTES = 100;

export function preparePlace(stateDir: string): EmbeddedPlace {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  // One directory under two names must not get two servers.
  const state = realpathSync(stateDir);
  const dataDir = join(state, "redis");
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return {
    dataDir,
    lockFile: join(state, "redis.lock"),
    logFile: join(state, "redis.log"),
    socket: socketPath(state),
  };
}

function socketPath(state: string): string {
  const near = join(state, "redis.sock");
  if (Buffer.byteLength(near) <= MAX_SOCKET_BYTES) return near;
  const hash = createHash("sha256").update(state).digest("hex").slice(0, 16);
  const { uid } = userInfo();
  const dir = join(tmpdir(), `tailrace-${uid}-${hash}`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const found = lstatSync(dir);
  // Anybody may write to the temporary directory: somebody else may have put this name there first.
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o077) !== 0) {
    throw new TailraceError(
      "store_unavailable",
      `${dir} is needed for Redis's socket, but is not a directory that only you can enter: remove it`,
    );
  }
  const short = join(dir, "redis.sock");
  if (Buffer.byteLength(short) <= MAX_SOCKET_BYTES) return short;
  throw new TailraceError(
    "store_unavailable",
    `both ${state} and ${tmpdir()} are too long for a socket path (${MAX_SOCKET_BYTES} bytes): use a shorter state directory or TMPDIR`,
  );
}

/** `searchPath` is PATH as the process was given it. */
export function findBinaries(searchPath: string): Binaries {
  const server = findOnPath("redis-server", searchPath) ?? findOnPath("valkey-server", searchPath);
  const flock = findOnPath("flock", searchPath);
  if (server !== null && flock !== null) return { server, flock };
  const missing = server === null ? "redis-server or valkey-server" : "flock (of util-linux)";
  const advice =
    server === null
      ? "apt install redis-server, dnf install redis, or dnf install valkey"
      : "install util-linux";
  throw new TailraceError(
    "store_unavailable",
    `no store: REDIS_URL is not set and there is no ${missing} on PATH. Set REDIS_URL, or install it (${advice})`,
  );
}

function findOnPath(name: string, searchPath: string): string | null {
  for (const dir of searchPath.split(delimiter)) {
    const file = join(dir, name);
    if (dir !== "" && isProgram(file)) return file;
  }
  return null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // not here, or not for us: the next directory may have it
  }
}
