import type { Json, JsonObject } from "../../domain/json.ts";
import { numberText, shown } from "./text.ts";

/*
 * What the events of solvers say, read so that a payload of another version shows less and breaks nothing: members may be
 * missing, grouped, or named in either of the two ways that are in use.
 */

/** The type without its vendor prefix, which is the operator's to choose: `solver.residual`, `job.started`, … */
export function shortType(type: string): string {
  return /(?:^|\.)((?:task|job|input|cancel|artifact|solver|log)\.[a-z_]+)$/.exec(type)?.[1] ?? type;
}

export type ProgressReading = {
  readonly current: number | null;
  readonly total: number | null;
  readonly unit: string;
  /** 0 to 1. */
  readonly fraction: number | null;
  readonly etaSeconds: number | null;
};

export function readProgress(payload: JsonObject): ProgressReading {
  const current = numberIn(payload, "current");
  const total = numberIn(payload, "total");
  const told = numberIn(payload, "fraction");
  const computed = current !== null && total !== null && total > 0 ? current / total : null;
  const fraction = told ?? computed;
  return {
    current,
    total,
    unit: textIn(payload, "unit") ?? "step",
    fraction: fraction === null ? null : Math.min(1, Math.max(0, fraction)),
    etaSeconds: numberIn(payload, "etaSeconds", "eta_s"),
  };
}

/** `Ux` or `air/p` → its newest value as text. */
export function readResiduals(payload: JsonObject): Map<string, string> {
  const found = new Map<string, string>();
  const group = payload["residuals"] ?? payload["fields"];
  if (Array.isArray(group)) {
    for (const one of group) if (isObject(one)) addResidual(found, one);
  } else if (isObject(group)) {
    for (const [field, value] of Object.entries(group)) {
      if (isObject(value)) addResidual(found, { field, ...value });
      else addResidual(found, { field, value });
    }
  } else {
    addResidual(found, payload);
  }
  return found;
}

function addResidual(found: Map<string, string>, one: JsonObject): void {
  const field = textIn(one, "field") ?? textIn(one, "name");
  const value = valueText(one["value"] ?? one["initial"] ?? one["last"]);
  if (field === null || value === null) return;
  const place = [textIn(one, "region"), textIn(one, "phase"), field]
    .filter((part) => part !== null)
    .join("/");
  found.set(shown(place, 40), value);
}

/** A number, one that is none (`{nonfinite}`), or the newest of several that were merged. */
function valueText(value: Json | undefined): string | null {
  if (typeof value === "number") return numberText(value);
  if (!isObject(value)) return null;
  const { nonfinite, last } = value;
  if (typeof nonfinite === "string") return shown(nonfinite, 12);
  return last === undefined ? valueText(value["value"]) : valueText(last);
}

export function textIn(payload: JsonObject, key: string): string | null {
  const value = payload[key];
  return typeof value === "string" && value !== "" ? value : null;
}

export function numberIn(payload: JsonObject, ...keys: readonly string[]): number | null {
  for (const key of keys) {
    const value = payload[key];
    if (typeof value === "number") return value;
    // A quantity with its unit.
    if (isObject(value) && typeof value["value"] === "number") return value["value"];
  }
  return null;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
