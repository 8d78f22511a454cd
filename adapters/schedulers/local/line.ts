import { open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { NO_ROOM, unlessCode } from "../shared/atomic-file.ts";
import { readClaim } from "../shared/claim.ts";
import { jobLayout } from "../shared/job-layout.ts";
import { markTail } from "../shared/mark.ts";
import { type LaunchAnswer, launch } from "./launch.ts";
import { type AttemptRecord, type LocalRoom, queueDirectory, readAttempt } from "./room.ts";

/** What the last look at the line taught about jobs that still wait in it. */
export type LineState = {
  /** All slots were taken. */
  isFull: boolean;
  /** Why a job could not be started, by `<mark>.<attempt>`. */
  readonly problems: Map<string, string>;
};

export type Line = {
  /** Puts an accepted attempt in the line; again changes nothing. */
  add(mark: string, record: AttemptRecord): Promise<void>;
  remove(mark: string, record: AttemptRecord): Promise<void>;
  /** Starts what can be started. Calls at the same time share one look. */
  advance(): Promise<void>;
  /** The place of the next job: 15 digits that sort by time, and by call within a millisecond. */
  nextOrder(): string;
  /** Waits until no look is under way. */
  settle(): Promise<void>;
  readonly state: LineState;
};

/**
 * The waiting jobs: `.queue/<order>-<mark>.<attempt>`, empty files, first come first served. An entry stays until the
 * job's claim is taken, so that a crash between the two costs nothing; a second start of one attempt dies at the claim.
 */
export function createLine(room: LocalRoom): Line {
  const state: LineState = { isFull: false, problems: new Map() };
  let running: Promise<void> | null = null;
  let isStale = false;
  let newest = 0;
  const advanceAll = async () => {
    do {
      isStale = false;
      await advanceOnce(room, state);
    } while (isStale);
  };
  return {
    state,
    add: async (mark, record) => {
      await (await open(join(queueDirectory(room), entryName(mark, record)), "a", 0o600)).close();
    },
    remove: (mark, record) => rm(join(queueDirectory(room), entryName(mark, record)), { force: true }),
    advance: () => {
      // Whoever comes while a look is under way may have added what it has already passed.
      isStale = true;
      running ??= advanceAll().finally(() => {
        running = null;
      });
      return running;
    },
    nextOrder: () => {
      newest = Math.max(newest + 1, Math.trunc(room.now()) * 100);
      return String(newest).padStart(15, "0");
    },
    settle: async () => {
      await running?.catch(() => undefined); // told to whoever asked for that look
    },
  };
}

function entryName(mark: string, record: AttemptRecord): string {
  return `${record.order}-${mark}.${record.attempt}`;
}

async function advanceOnce(room: LocalRoom, state: LineState): Promise<void> {
  const names = await unlessCode(["ENOENT"], [], () => readdir(queueDirectory(room)));
  state.isFull = false;
  for (const name of names.sort()) {
    const answer = await advanceEntry(room, name);
    const key = name.slice(16);
    state.problems.delete(key);
    if (answer.kind === "full") {
      state.isFull = true;
      return;
    }
    if (answer.kind === "failed") state.problems.set(key, answer.reason);
    else await unlessCode(NO_ROOM, undefined, () => rm(join(queueDirectory(room), name), { force: true }));
  }
}

/** `gone`: nothing to start, or it has started already. */
async function advanceEntry(room: LocalRoom, name: string): Promise<LaunchAnswer | { kind: "gone" }> {
  const [, mark, number] = /^\d{15}-(.+)\.([1-9]\d*)$/.exec(name) ?? [];
  const attempt = Number(number);
  // A name that is not ours stays where it is.
  if (mark === undefined || markTail(mark, room.instance) === null)
    return { kind: "failed", reason: "not an entry of this instance" };
  const layout = jobLayout(room.workdir, mark);
  const record = await readAttempt(layout, attempt);
  if (record === null || (await readClaim(layout, attempt)) !== null) return { kind: "gone" };
  return launch(room, layout, record);
}
