import type { EventDraft } from "../src/domain/event.ts";
import type { TaskRecord } from "../src/domain/task.ts";
import type { LogPipeline } from "../src/domain/translator.ts";
import type { Cursors } from "./cursors.ts";

/** One task being followed. Everything here can be built again from the store. */
export type Following = {
  record: TaskRecord;
  readonly epoch: number;
  readonly pipeline: LogPipeline;
  /** As the store has it. */
  stored: string;
  cursors: Cursors;
  pending: EventDraft[];
  flushedMs: number;
  heldMs: number;
};
