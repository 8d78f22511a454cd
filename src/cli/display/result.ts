import Table from "cli-table3";
import type { Json, JsonObject } from "../../domain/json.ts";
import { isObject, textIn } from "./reading.ts";
import { bytesText, jsonText, numberText, shown, shownLines } from "./text.ts";

const MAX_FILES = 50;

/** True when the task completed and its job did what it was asked to. */
export function isTaskOk(task: JsonObject): boolean {
  const { result } = task;
  return task["status"] === "completed" && isObject(result) && result["isError"] !== true;
}

/** What a task came to, for a person: outcome, metrics, files, result. */
export function resultLines(task: JsonObject): string[] {
  const result = isObject(task["result"]) ? task["result"] : {};
  const structured = isObject(result["structuredContent"]) ? result["structuredContent"] : {};
  const { metrics, artifacts, result: own } = structured;
  return [
    `${isTaskOk(task) ? "OK" : "NOT OK"}: ${headline(task)}`,
    ...(isTaskOk(task) ? [] : detail(result)),
    ...(isObject(metrics) ? metricLines(metrics) : []),
    ...(Array.isArray(artifacts) ? artifactLines(artifacts) : []),
    ...(own === undefined || own === null ? [] : ["", ...jsonText(own, 2).split("\n")]),
  ];
}

function headline(task: JsonObject): string {
  const error = isObject(task["error"]) ? textIn(task["error"], "message") : null;
  return shown(textIn(task, "statusMessage") ?? error ?? textIn(task, "status") ?? "ended", 500);
}

/** The first text of the result without its first line, which is the headline again: the end of stderr and such. */
function detail(result: JsonObject): string[] {
  const content = Array.isArray(result["content"]) ? result["content"] : [];
  const first = content.find((part) => isObject(part) && part["type"] === "text");
  const text = isObject(first) ? textIn(first, "text") : null;
  return text === null ? [] : shownLines(text).slice(1);
}

function metricLines(metrics: JsonObject): string[] {
  const rows = Object.entries(metrics);
  if (rows.length === 0) return [];
  return ["", ...rows.map(([name, value]) => `  ${shown(name, 60)}  ${metricText(value)}`)];
}

function metricText(value: Json): string {
  if (typeof value === "number") return numberText(value);
  if (isObject(value) && typeof value["value"] === "number") {
    const unit = textIn(value, "unit");
    const isNamed = unit !== null && unit !== "1" && unit !== "unknown";
    return `${numberText(value["value"])}${isNamed ? ` ${shown(unit, 20)}` : ""}`;
  }
  return shown(typeof value === "string" ? value : jsonText(value), 160);
}

function artifactLines(artifacts: readonly Json[]): string[] {
  const rows = artifacts.filter((one) => isObject(one));
  if (rows.length === 0) return [];
  const table = plainTable(["file", "size", "type"]);
  for (const one of rows.slice(0, MAX_FILES)) {
    const { bytes } = one;
    table.push([
      shown(textIn(one, "name") ?? "", 100),
      typeof bytes === "number" ? bytesText(bytes) : "",
      shown(textIn(one, "mediaType") ?? "", 60),
    ]);
  }
  const more = rows.length > MAX_FILES ? [`  and ${rows.length - MAX_FILES} more`] : [];
  return ["", ...tableLines(table), ...more];
}

const NO_LINES = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

/** Columns without lines and colours: it is read by people and by grep. */
export function plainTable(head: readonly string[]): Table.Table {
  return new Table({
    head: [...head],
    chars: NO_LINES,
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [] },
  });
}

export function tableLines(table: Table.Table): string[] {
  return table
    .toString()
    .split("\n")
    .map((line) => `  ${line}`.trimEnd());
}
