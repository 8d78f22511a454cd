import type { Json, JsonObject } from "../../src/domain/json.ts";
import type { Note } from "../../src/domain/translator.ts";
import { MAX_MESSAGE_BYTES, type MessageLine } from "./message-lines.ts";

/** What one line of the job's message file says. `problem`: in words for whoever wrote the job. */
export type Message =
  | { readonly kind: "note"; readonly note: Note }
  | { readonly kind: "input"; readonly key: string; readonly request: JsonObject }
  | { readonly kind: "bad"; readonly problem: string };

/** Reads a line; null for an empty one. Total: a line that is no message is a `bad` one. */
export function readMessage(line: MessageLine): Message | null {
  if (line === null) return bad(`a message has at most ${MAX_MESSAGE_BYTES} bytes`);
  if (line.trim() === "") return null;
  const message = parseObject(line);
  if (message === null) return bad("a message is one JSON object on one line");
  const { type } = message;
  const read = typeof type === "string" && Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  return read === undefined
    ? bad(`a message's type is one of ${Object.keys(READERS).join(", ")}`)
    : read(message);
}

const READERS: Readonly<Record<string, (message: JsonObject) => Message>> = {
  progress: readProgress,
  metric: readMetric,
  event: readEvent,
  artifact: readArtifact,
  warning: readWarning,
  input: readInput,
};

function readProgress(message: JsonObject): Message {
  const { current, total, unit, text } = message;
  if (typeof current !== "number") return bad("progress needs a number `current`");
  if (!isAbsentOr(total, "number")) return bad("`total` of progress is a number");
  if (!isAbsentOr(unit, "string") || !isAbsentOr(text, "string")) {
    return bad("`unit` and `text` of progress are strings");
  }
  const payload: JsonObject = { current, unit: typeof unit === "string" ? line(unit, 32) : "step" };
  if (typeof total === "number") {
    payload["total"] = total;
    if (total > 0) payload["fraction"] = Math.min(1, Math.max(0, current / total));
  }
  payload["totalBasis"] = typeof total === "number" ? "job" : "none";
  if (typeof text === "string") payload["text"] = line(text, 200);
  return said({ type: "solver.progress", payload: { ...payload, by: "job" }, series: "job/progress" });
}

function readMetric(message: JsonObject): Message {
  const { name, value, unit } = message;
  if (typeof name !== "string" || name === "") return bad("a metric needs a string `name`");
  if (typeof value !== "number") return bad("a metric needs a number `value`");
  if (!isAbsentOr(unit, "string")) return bad("`unit` of a metric is a string");
  const payload = {
    name: line(name, 100),
    value,
    unit: typeof unit === "string" ? line(unit, 32) : "unknown",
    by: "job",
  };
  return said({ type: "solver.metric", payload, series: `job/metric/${payload.name}` });
}

const EVENT_NAME = /^[a-z][a-z0-9_]{0,39}(\.[a-z][a-z0-9_]{0,39}){0,3}$/;

function readEvent({ name, payload }: JsonObject): Message {
  if (typeof name !== "string" || !EVENT_NAME.test(name)) {
    return bad("an event's `name` is words of a-z, 0-9 and _ with dots between them");
  }
  if (payload !== undefined && !isObject(payload)) return bad("an event's `payload` is an object");
  return said({ type: `job.event.${name}`, payload: payload ?? {} });
}

function readArtifact({ path, note }: JsonObject): Message {
  if (typeof path !== "string" || path === "") return bad("an artifact needs a string `path`");
  if (!isAbsentOr(note, "string")) return bad("an artifact's `note` is a string");
  const remark = typeof note === "string" ? { note: line(note, 400) } : {};
  return said({ type: "artifact.announced", payload: { path: line(path, 1000), ...remark } });
}

function readWarning({ text }: JsonObject): Message {
  if (typeof text !== "string") return bad("a warning needs a string `text`");
  return said({ type: "solver.warning", payload: { code: "job", text: text.slice(0, 2000), by: "job" } });
}

const MAX_SCHEMA_CHARACTERS = 8_192;

/** Becomes an elicitation in form mode, which is what a client can show a person. */
function readInput({ key, message, schema }: JsonObject): Message {
  if (typeof key !== "string" || !/^[A-Za-z0-9_.:-]{1,64}$/.test(key)) {
    return bad("an input's `key` is 1 to 64 letters, digits, _ . : -");
  }
  if (typeof message !== "string" || message === "") return bad("an input needs a string `message`");
  if (!isObject(schema) || schema["type"] !== "object" || !isObject(schema["properties"])) {
    return bad("an input's `schema` is a JSON Schema with type object and properties");
  }
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARACTERS) {
    return bad(`an input's \`schema\` has at most ${MAX_SCHEMA_CHARACTERS} characters`);
  }
  const params = { mode: "form", message: message.slice(0, 2000), requestedSchema: schema };
  return { kind: "input", key, request: { method: "elicitation/create", params } };
}

function said(note: Note): Message {
  return { kind: "note", note };
}

function bad(problem: string): Message {
  return { kind: "bad", problem };
}

function isAbsentOr(value: Json | undefined, type: "number" | "string"): boolean {
  return value === undefined || value === null || typeof value === type;
}

/** Text that stays on its line. */
function line(text: string, most: number): string {
  return text.replace(/\p{Cc}+/gu, " ").slice(0, most);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Numbers JSON cannot hold (1e999) become null: only finite ones may go on. */
function parseObject(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text, (_, member: Json) =>
      typeof member === "number" && !Number.isFinite(member) ? null : member,
    ) as Json;
    return isObject(value) ? value : null;
  } catch {
    return null; // whatever it is, it is no message
  }
}
