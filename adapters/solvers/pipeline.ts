import type { LogSource } from "../../src/domain/adapter.ts";
import type { Json, JsonObject } from "../../src/domain/json.ts";
import type {
  InputAsked,
  Line,
  LogPipeline,
  Note,
  PipelineFactory,
  Translator,
} from "../../src/domain/translator.ts";
import { type Coalescer, type CoalescerState, createCoalescer, newCoalescerState } from "./coalesce.ts";
import { finishedEvent } from "./finished.ts";
import { fitPayload } from "./fit.ts";
import { hearMessages, newVoice, type VoiceState } from "./job-voice.ts";
import { createLineFramer, type LineFramer } from "./lines.ts";
import { newMessageCarry } from "./message-lines.ts";
import { newProgress, observeNote, observeTime, type ProgressState, progressOf } from "./progress.ts";
import { extendTail, type Tail } from "./tail.ts";
import { translatorFor } from "./translators.ts";

/** What `snapshot` hands out. Written by ourselves, read by ourselves: another version's is not gone on with. */
type Snapshot = {
  readonly version: 1;
  readonly framers: { readonly stdout: Json; readonly stderr: Json };
  readonly translator: JsonObject;
  readonly coalescer: CoalescerState;
  readonly progress: ProgressState;
  readonly voice: VoiceState;
  readonly tails: { readonly stdout: Tail; readonly stderr: Tail };
};

type Stage = {
  readonly translator: Translator;
  readonly framers: { readonly stdout: LineFramer; readonly stderr: LineFramer };
  readonly coalescer: Coalescer;
  readonly progress: ProgressState;
  readonly voice: VoiceState;
  readonly tails: { stdout: Tail; stderr: Tail };
  inputs: InputAsked[];
  state: JsonObject;
  nowMs: number;
};

const LINE_END = new Uint8Array([0x0a]);

/** Bytes of a job's logs in, events of its task out: framing, translator, coalescer. */
export const createPipeline: PipelineFactory = ({ solver, total, unit, snapshot }) => {
  const translator = translatorFor(solver);
  const stage = begin(translator, readSnapshot(snapshot), { total, unit });
  const pipeline: LogPipeline = {
    feed(source, bytes, { nowMs, restarted }) {
      stage.nowMs = nowMs;
      if (source === "messages") {
        if (restarted) stage.voice.carry = newMessageCarry();
        hear(stage, bytes);
      } else {
        if (restarted) translate(stage, source, stage.framers[source].flush());
        translate(stage, source, stage.framers[source].feed(bytes));
      }
      observeTime(stage.progress, nowMs);
    },
    take(nowMs, { final }) {
      stage.nowMs = nowMs;
      if (final) {
        translate(stage, "stdout", stage.framers.stdout.flush());
        translate(stage, "stderr", stage.framers.stderr.flush());
        // A last message that lacks its line end is whole all the same, or is told as torn.
        hear(stage, LINE_END);
      }
      return stage.coalescer.take(nowMs, { final });
    },
    inputs() {
      const { inputs } = stage;
      stage.inputs = [];
      return inputs;
    },
    snapshot: () => snapshotOf(stage),
    progress: () => progressOf(stage.progress, { total, unit }),
    findings: () => translator.findings(stage.state),
    tail: () =>
      (stage.tails.stderr.length > 0 ? stage.tails.stderr : stage.tails.stdout).map((one) => one.text),
    conclude(end) {
      const { type, payload } = finishedEvent(end, translator.findings(stage.state));
      return [{ type, payload: fitPayload(payload) }];
    },
  };
  return pipeline;
};

function begin(
  translator: Translator,
  from: Snapshot | null,
  options: { readonly total: number | null; readonly unit: string | null },
): Stage {
  return {
    translator,
    framers: {
      stdout: createLineFramer("stdout", from?.framers.stdout),
      stderr: createLineFramer("stderr", from?.framers.stderr),
    },
    coalescer: createCoalescer(from?.coalescer ?? newCoalescerState()),
    progress: from?.progress ?? newProgress(),
    voice: from?.voice ?? newVoice(),
    tails: from === null ? { stdout: [], stderr: [] } : { ...from.tails },
    inputs: [],
    state: from?.translator ?? translator.start(options),
    nowMs: 0,
  };
}

function translate(stage: Stage, source: Exclude<LogSource, "messages">, lines: readonly Line[]): void {
  if (lines.length === 0) return;
  stage.tails[source] = extendTail(stage.tails[source], lines);
  for (const line of lines) {
    const { state, notes } = stage.translator.step(stage.state, line);
    stage.state = state;
    for (const note of notes) tell(stage, note, "log");
  }
}

function hear(stage: Stage, bytes: Uint8Array): void {
  const { notes, inputs } = hearMessages(stage.voice, bytes);
  stage.inputs.push(...inputs);
  for (const note of notes) tell(stage, note, "job");
}

function tell(stage: Stage, note: Note, by: "log" | "job"): void {
  observeNote(stage.progress, note, by);
  stage.coalescer.add(note, stage.nowMs);
}

function snapshotOf(stage: Stage): Json {
  const { framers, progress, voice, tails } = stage;
  const snapshot: Snapshot = {
    version: 1,
    framers: { stdout: framers.stdout.snapshot(), stderr: framers.stderr.snapshot() },
    translator: stage.state,
    coalescer: stage.coalescer.snapshot(),
    progress,
    voice,
    tails,
  };
  return snapshot;
}

function readSnapshot(snapshot: Json): Snapshot | null {
  if (typeof snapshot !== "object" || snapshot === null || Array.isArray(snapshot)) return null;
  if (snapshot["version"] !== 1) return null;
  // The stage changes what it holds; the caller's object stays as it is.
  return structuredClone(snapshot) as Snapshot;
}
