import type { TaskEvent } from "../../domain/event.ts";
import type { JsonObject } from "../../domain/json.ts";
import { durationText } from "../../mcp/words.ts";
import { isObject, numberIn, readProgress, readResiduals, shortType, textIn } from "./reading.ts";
import { bytesText, jsonText, numberText, shown } from "./text.ts";

type Words = (payload: JsonObject) => string;

const SAID: ReadonlyMap<string, Words> = new Map<string, Words>([
  ["task.accepted", (p) => `accepted: ${said(p, "tool")} on ${said(p, "target")}`],
  ["task.status", (p) => said(p, "message")],
  ["job.submitted", (p) => `submitted to ${said(p, "target")} as job ${said(p, "jobId")}`],
  ["job.queued", (p) => `queued${because(p)}`],
  ["job.held", (p) => `held${because(p)}`],
  ["job.started", (p) => `started${where(p)}`],
  ["job.requeued", () => "requeued: it starts again"],
  ["job.suspended", (p) => `suspended${because(p)}`],
  ["job.resumed", () => "running again"],
  ["job.ended", jobEnded],
  ["input.requested", inputRequested],
  ["input.answered", (p) => `input ${said(p, "key")} was answered`],
  ["cancel.requested", () => "cancel requested"],
  ["artifact.created", artifact],
  ["task.ended", (p) => `ended: ${isObject(p["outcome"]) ? said(p["outcome"], "kind") : "no outcome"}`],
  ["solver.started", (p) => `${said(p, "solver")} ${said(p, "version")}`.trim()],
  ["solver.stage", (p) => `stage ${said(p, "name")} ${said(p, "state")}`.trim()],
  ["solver.progress", progressText],
  ["solver.residual", (p) => `residuals ${residualText(readResiduals(p))}`],
  ["solver.warning", (p) => `warning: ${said(p, "text") || said(p, "code")}`],
  ["solver.diverged", (p) => `diverged: ${said(p, "reason")} ${said(p, "field")}`.trim()],
  ["solver.converged", (p) => `converged ${said(p, "scope")}`.trim()],
  ["solver.not_converged", (p) => `not converged ${said(p, "scope")}`.trim()],
]);

/** What an event says, on one line without its time and number. */
export function eventText({ type, payload }: TaskEvent): string {
  const short = shortType(type);
  const words = SAID.get(short)?.(payload);
  if (words !== undefined && words.trim() !== "") return shown(words, 300);
  // When it was said is no part of what is said.
  const members = Object.entries(payload).filter(
    ([name, value]) => name !== "at" || typeof value !== "string",
  );
  const rest = members.length === 0 ? "" : jsonText(Object.fromEntries(members));
  return shown(`${short} ${rest}`, 300) || "an event without a name";
}

/** Events that a person wants to see beside a live display; the rest is what the display is made of. */
export function isNotable({ type }: TaskEvent): boolean {
  const short = shortType(type);
  return !["solver.progress", "solver.residual", "solver.timestep", "solver.metric", "log.lines"].includes(
    short,
  );
}

export function progressText(payload: JsonObject): string {
  const { current, total, unit, fraction, etaSeconds } = readProgress(payload);
  const parts = [
    current === null
      ? ""
      : `${shown(unit, 20)} ${numberText(current)}${total === null ? "" : ` of ${numberText(total)}`}`,
    fraction === null ? "" : `${Math.round(fraction * 100)} %`,
    etaSeconds === null ? "" : `ETA ${durationText(etaSeconds * 1000)}`,
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

export function residualText(residuals: ReadonlyMap<string, string>): string {
  return [...residuals].map(([field, value]) => `${field} ${value}`).join("  ");
}

function said(payload: JsonObject, key: string): string {
  const value = payload[key];
  if (typeof value === "string") return shown(value, 200);
  return typeof value === "number" ? numberText(value) : "";
}

function because(payload: JsonObject): string {
  const reason = textIn(payload, "reason");
  return reason === null ? "" : ` (${shown(reason, 160)})`;
}

function where(payload: JsonObject): string {
  const { nodes } = payload;
  const names = Array.isArray(nodes) ? nodes.filter((node) => typeof node === "string") : [];
  const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
  return names.length === 0
    ? ""
    : ` on ${names
        .slice(0, 3)
        .map((name) => shown(name, 60))
        .join(", ")}${more}`;
}

function jobEnded(payload: JsonObject): string {
  const code = numberIn(payload, "exitCode");
  return `the job ended: ${said(payload, "end")}${code === null ? "" : `, exit code ${code}`}${because(payload)}`;
}

function inputRequested(payload: JsonObject): string {
  const request = isObject(payload["request"]) ? payload["request"] : {};
  const params = isObject(request["params"]) ? request["params"] : {};
  const message = said(params, "message");
  return `input needed (${said(payload, "key")})${message === "" ? "" : `: ${message}`}`;
}

function artifact(payload: JsonObject): string {
  const bytes = numberIn(payload, "bytes");
  return `file ${said(payload, "name") || said(payload, "path")}${bytes === null ? "" : `, ${bytesText(bytes)}`}`;
}
