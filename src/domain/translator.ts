import type { JobEnd, LogSource } from "./adapter.ts";
import type { EventDraft } from "./event.ts";
import type { Json, JsonObject } from "./json.ts";

/** One framed line. No terminator, ANSI and OSC stripped, invalid UTF-8 replaced, at most 8 KiB. */
export type Line = {
  readonly text: string;
  readonly source: LogSource;
  /** A bare carriage return ended it: a progress bar's state that the next one overwrites. */
  readonly overwritten: boolean;
  /** Bytes that did not fit were dropped. */
  readonly truncated: boolean;
  /** The log ended inside it. Never to be read as a complete row: its last number may be cut. */
  readonly partial: boolean;
};

/**
 * What one line said. `type` is without the vendor prefix. Notes with a `series` may be merged by the coalescer (first,
 * last, minimum and maximum are kept); the others are never dropped.
 */
export type Note = { readonly type: string; readonly payload: JsonObject; readonly series?: string };

/**
 * The solver contract: a fold over lines. `state` is plain JSON of at most 16 KiB; `step` may change and return the
 * object it was handed, so a caller that needs the old state serialises it first. Laws (property tests): notes do not
 * depend on how the log was chunked or where the fold was stopped and resumed; no line throws; memory is bounded; no
 * note comes from text inside other text.
 */
export type Translator = {
  readonly name: string;
  /** How sure, 0 to 1, that these first lines (at most 200) come from this program. */
  detect(head: readonly string[]): number;
  start(options: { readonly total: number | null; readonly unit: string | null }): JsonObject;
  step(state: JsonObject, line: Line): { readonly state: JsonObject; readonly notes: readonly Note[] };
  /** What the whole log told, once no more will come. */
  findings(state: JsonObject): Findings;
};

/** What the text of the log says about the end, before exit code and scheduler are heard. */
export type Findings = {
  readonly solver: string;
  /** The fatal marker's text, or null. */
  readonly fatal: string | null;
  /** nan, inf or unbounded values in a primary series, or the solver's own word for it. */
  readonly diverged: string | null;
  /** True: the program's own end marker was seen. Null: this program prints none. */
  readonly endMarker: boolean | null;
  /** Null: this program does not say. */
  readonly converged: boolean | null;
  readonly stoppedByRequest: boolean;
  readonly steps: number;
  readonly finalTime: number | null;
  readonly residuals: readonly { field: string; region: string | null; initial: number; final: number }[];
  readonly metrics: Readonly<Record<string, Json>>;
  readonly segments: number;
  readonly warnings: number;
};

/** The newest state in a few words and numbers, for statusMessage and the metrics resource. */
export type Progress = {
  readonly text: string | null;
  readonly current: number | null;
  readonly total: number | null;
  readonly unit: string | null;
  readonly etaSeconds: number | null;
  readonly metrics: JsonObject;
};

/** A question of the job, as it stands in its messages. `request` is an MCP input request. */
export type InputAsked = { readonly key: string; readonly request: JsonObject };

/**
 * One task's way from bytes to events: framing, translator, coalescer. The follow worker owns one per task and stores
 * `snapshot()` together with the events of `take()`, never alone.
 */
export type LogPipeline = {
  feed(
    source: LogSource,
    bytes: Uint8Array,
    at: { readonly nowMs: number; readonly restarted: boolean },
  ): void;
  /** Events that are due by now; all that are held when `final`. */
  take(nowMs: number, options: { readonly final: boolean }): EventDraft[];
  /**
   * Questions fed since the last call. They are no events: record them before the cursor moves past them. After a crash
   * in between they are asked again under the same keys.
   */
  inputs(): readonly InputAsked[];
  /** Shares its parts with the pipeline: serialise it before the next call. */
  snapshot(): Json;
  progress(): Progress;
  findings(): Findings;
  /** Last lines of stderr (of stdout when stderr is empty), for error results. */
  tail(): readonly string[];
  /** `solver.finished` and what else only the end can tell. Changes nothing: it may be asked for again. */
  conclude(end: JobEnd): EventDraft[];
};

export type PipelineFactory = (options: {
  readonly solver: string;
  readonly total: number | null;
  readonly unit: string | null;
  readonly snapshot: Json;
}) => LogPipeline;

/** Reads a whole log again for its series at full resolution. */
export type History = {
  /** `isEnd`: the source has no more bytes. */
  feed(source: Exclude<LogSource, "messages">, bytes: Uint8Array, options: { readonly isEnd: boolean }): void;
  /** `{stride, timeUnit, residuals, metrics}`; of each series every stride-th row and the newest. At most about 4 MiB. */
  toJson(): JsonObject;
};

export type HistoryFactory = (options: {
  readonly solver: string;
  readonly total: number | null;
  readonly unit: string | null;
  /** One field or metric alone; null: all. */
  readonly only: string | null;
}) => History;
