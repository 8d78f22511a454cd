import { NO_FINDINGS } from "../../src/domain/findings.ts";
import type { Json } from "../../src/domain/json.ts";
import type { LogPipeline, PipelineFactory } from "../../src/domain/translator.ts";

const TAIL_LINES = 20;

/** Keeps the tail of both streams and says nothing about the solver: no translator is registered yet. */
export const createPipeline: PipelineFactory = ({ snapshot }) => {
  const tails = readTails(snapshot);
  const decoder = new TextDecoder();
  const keep = (lines: string[], text: string) =>
    lines.concat(text.split("\n").filter(Boolean)).slice(-TAIL_LINES);
  const pipeline: LogPipeline = {
    feed(source, bytes) {
      if (source === "messages") return;
      tails[source] = keep(tails[source], decoder.decode(bytes));
    },
    take: () => [],
    snapshot: () => ({ ...tails }),
    progress: () => ({ text: null, current: null, total: null, unit: null, etaSeconds: null, metrics: {} }),
    findings: () => NO_FINDINGS,
    tail: () => (tails.stderr.length > 0 ? tails.stderr : tails.stdout),
    conclude: () => [],
  };
  return pipeline;
};

function readTails(snapshot: Json): { stdout: string[]; stderr: string[] } {
  const of = (source: string): string[] => {
    const value: unknown =
      typeof snapshot === "object" && snapshot !== null ? Reflect.get(snapshot, source) : [];
    return Array.isArray(value) ? value.map(String) : [];
  };
  return { stdout: of("stdout"), stderr: of("stderr") };
}
