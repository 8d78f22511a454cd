import type { JobSpec } from "./adapter.ts";
import type { EventDraft, TaskEvent } from "./event.ts";
import type { Json } from "./json.ts";
import type { TaskRecord } from "./task.ts";
import type { Progress } from "./translator.ts";

/**
 * The ledger. Every method is one call to the store that happens whole or not at all. It knows no MCP and no scheduler.
 * Faults are TailraceErrors: `store_unavailable` (no answer; a write may have been applied), `store_full`.
 */
export type TaskStore = {
  /** ms since the epoch by the store's own clock: every deadline uses it. */
  now(): Promise<number>;
  /** Claim, record, spec, event 0 and duties in one call (DESIGN 5). */
  create(request: CreateRequest): Promise<CreateAnswer>;
  /** Null when there is no such task, or its time is over. */
  read(taskId: string): Promise<StoredTask | null>;
  readMany(taskIds: readonly string[]): Promise<ReadonlyMap<string, TaskRecord>>;
  readSpec(taskId: string): Promise<JobSpec | null>;
  /** The hot path of tasks/get: one read, nothing parsed. Null as in `read`. */
  glance(taskId: string): Promise<Glance | null>;
  /** Ids of a caller's tasks, newest first. */
  list(owner: string, limit: number): Promise<string[]>;
  /** Ids of all tasks of a target, for upkeep, newest first. */
  listTarget(target: string, limit: number): Promise<string[]>;
  /** Names of all targets that have tasks, configured or not, in order. Walks the key space: for operators only. */
  targets(): Promise<string[]>;
  /**
   * Compare-and-set of the record with its events and duties. `stale`: the stored phaseRev is not `before.phaseRev`, or
   * `epoch` is given and no longer the newest; nothing was written.
   */
  commit(request: CommitRequest): Promise<"committed" | "stale" | "gone">;
  /** Takes the following of a task over: raises the epoch, so that an older follower's appends are refused. */
  takeOver(taskId: string): Promise<FollowState | null>;
  /**
   * Appends a follower's events with its cursor and state: all or nothing. `fenced`: another life, another epoch,
   * another cursor than `from`, or the task has ended. Pushes the follow duty `dutyInMs` into the future.
   */
  append(request: AppendRequest): Promise<"appended" | "fenced" | "gone">;
  /** Events with seq > after (from the earliest kept when null), at most `limit`, as ready JSON text. */
  readEvents(taskId: string, after: number | null, limit: number): Promise<EventPage | null>;
  /** Calls back on every change of the task, and whenever changes may have been missed. Returns the unsubscriber. */
  watchTask(taskId: string, onChange: () => void): Promise<() => void>;
  /** Takes duties of one kind that are due, pushing each `againInMs` into the future so that no other worker takes it. */
  takeDue(
    target: string,
    kind: "watch" | "work",
    options: { limit: number; againInMs: number },
  ): Promise<string[]>;
  /** Sets when duties come due next; those that no longer exist stay absent. */
  reschedule(target: string, members: readonly { member: string; inMs: number }[]): Promise<void>;
  /** Ids whose time is over. */
  expired(limit: number): Promise<string[]>;
  /** Removes a task whose time is over; its claim stays as a tombstone for `claimTtlMs`. */
  purge(taskId: string): Promise<"purged" | "alive" | "gone">;
  close(): Promise<void>;
};

export type CreateRequest = {
  /** sha256 hex of (principal, tool, token). */
  readonly claim: string;
  /** sha256 hex of the canonical arguments. */
  readonly argsHash: string;
  readonly record: TaskRecord;
  readonly spec: JobSpec;
  readonly events: readonly EventDraft[];
  /** The claim is given up this long after the start when the tool's keys live in a window; null: with the tombstone. */
  readonly claimWindowMs: number | null;
};

export type CreateAnswer =
  | { readonly kind: "created" }
  | { readonly kind: "existing"; readonly taskId: string }
  | { readonly kind: "conflict" }
  | { readonly kind: "expired"; readonly expiredAtMs: number };

export type StoredTask = {
  readonly record: TaskRecord;
  readonly progress: Progress | null;
  readonly nextSeq: number;
  /** The newest follower's. */
  readonly epoch: number;
};

export type Glance = {
  readonly owner: string;
  readonly ended: boolean;
  /** What `renderTask` made of the record at its last change. */
  readonly doc: string;
  /** JSON text of the follower's newest Progress with `atMs`, or null. */
  readonly progress: string | null;
  readonly nowMs: number;
};

export type CommitRequest = {
  readonly before: TaskRecord;
  readonly after: TaskRecord;
  readonly events: readonly EventDraft[];
  readonly epoch?: number;
};

export type FollowState = {
  readonly epoch: number;
  readonly record: TaskRecord;
  readonly spec: JobSpec;
  readonly cursor: string;
  readonly snapshot: Json;
};

export type AppendRequest = {
  readonly taskId: string;
  readonly target: string;
  readonly life: number;
  readonly epoch: number;
  /** Cursor text before and after; compared as text. */
  readonly from: string;
  readonly to: string;
  readonly snapshot: Json;
  readonly progress: Progress;
  readonly events: readonly EventDraft[];
  readonly dutyInMs: number;
};

export type EventPage = {
  readonly owner: string;
  /** JSON text `"type":"…","payload":{…}` without braces, in order, starting at `firstSeq`. */
  readonly events: readonly string[];
  readonly firstSeq: number;
  readonly earliestSeq: number;
  readonly nextSeq: number;
  readonly ended: boolean;
};

export function parseEventText(seq: number, text: string): TaskEvent {
  return { seq, ...(JSON.parse(`{${text}}`) as Omit<TaskEvent, "seq">) };
}

/** Turns a record into the text that `glance` hands out. Given to the store by the composition root. */
export type RenderTask = (record: TaskRecord) => string;
