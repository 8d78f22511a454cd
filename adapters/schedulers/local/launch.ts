import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { unlessCode } from "../shared/atomic-file.ts";
import { readClaim } from "../shared/claim.ts";
import { run, spawnDetached } from "../shared/command-runner.ts";
import type { JobLayout } from "../shared/job-layout.ts";
import { type AttemptRecord, type LocalRoom, slotDirectory } from "./room.ts";

/** What a job gets from this process's environment. The rest, secrets of the server among it, stays here. */
const INHERITED = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ"] as const;

const NO_SLOT = 75;
const CLAIM_WAIT_MS = 5000;
const CLAIM_LOOK_MS = 5;

/**
 * Takes a free slot and becomes the wrapper. A slot is a kernel lock on descriptor 9: it holds over all processes of
 * ours and goes with the wrapper, however that dies. The wrapper does not hand it on to the job.
 */
const TAKE_SLOT = `slots=$1 count=$2
shift 2
while [ "$count" -gt 0 ]; do
  count=$((count - 1))
  exec 9>>"$slots/$count"
  flock -n 9 && exec sh "$@"
done
exit ${NO_SLOT}`;

function takeSlot(room: LocalRoom): string[] {
  return ["sh", "-c", TAKE_SLOT, "tailrace", slotDirectory(room), String(room.maxConcurrent)];
}

/** True when a job could start at this moment. Takes a slot and lets it go. */
export async function hasFreeSlot(room: LocalRoom, signal: AbortSignal): Promise<boolean> {
  const probe = await run([...takeSlot(room), "-c", ":"], { timeoutMs: 5000, signal, maxBytes: 10_000 });
  return probe.exitCode === 0;
}

export type LaunchAnswer =
  | { readonly kind: "started" }
  | { readonly kind: "full" }
  | { readonly kind: "failed"; readonly reason: string };

/** Starts the attempt's wrapper and waits until it holds its claim, or has said why it cannot. */
export async function launch(
  room: LocalRoom,
  layout: JobLayout,
  record: AttemptRecord,
): Promise<LaunchAnswer> {
  const settings = [record.attempt, "process", record.walltimeSeconds, room.graceSeconds].map(String);
  const launched = spawnDetached([...takeSlot(room), layout.wrapper, layout.root, ...settings], {
    env: inheritedEnvironment(),
    cwd: "/",
  });
  let ended: { exitCode: number | null; problem: string | null } | null = null;
  const watched = launched.exited.then((result) => {
    ended = result;
    return result;
  });
  const deadline = Date.now() + CLAIM_WAIT_MS;
  for (;;) {
    const result: typeof ended = ended;
    if ((await readClaim(layout, record.attempt)) !== null) return { kind: "started" };
    if (result !== null) return describe(layout, record.attempt, result);
    if (Date.now() > deadline) return { kind: "failed", reason: "its wrapper is slow to start" };
    await Promise.race([watched, delay(CLAIM_LOOK_MS)]);
  }
}

async function describe(
  layout: JobLayout,
  attempt: number,
  ended: { exitCode: number | null; problem: string | null },
): Promise<LaunchAnswer> {
  if (ended.exitCode === NO_SLOT) return { kind: "full" };
  const said = await unlessCode(["ENOENT"], "", () => readFile(layout.problem(attempt), "utf8"));
  const how = ended.exitCode === null ? "a signal" : `exit code ${ended.exitCode}`;
  const reason = ended.problem ?? (said.trim() === "" ? `its wrapper ended with ${how}` : said.trim());
  return { kind: "failed", reason: `it could not be started: ${reason}` };
}

function inheritedEnvironment(): Record<string, string> {
  const entries = INHERITED.map((name): [string, string | undefined] => [name, process.env[name]]);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
