import { isAbsolute } from "node:path";
import { optionsSchema, SCHEDULER_NAMES, targetSchema } from "../../adapters/registry.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import { didYouMean } from "./did-you-mean.ts";
import { isJsonObject, reportIssues } from "./fields.ts";
import { resolvePath } from "./files.ts";
import type { Part } from "./part.ts";
import type { Path } from "./problem.ts";
import type { Report } from "./report.ts";
import { TargetFile } from "./schema.ts";
import type { Settings } from "./settings.ts";

export type Targets = {
  /** The targets that are right. */
  readonly parsed: Settings["targets"];
  /** Scheduler settings that a target's tools start from. */
  readonly defaults: ReadonlyMap<string, JsonObject>;
  /** All that the file names, so that a tool's target is not called unknown because the target has a fault. */
  readonly names: readonly string[];
};

/** What a file without `targets` has: this machine. */
export const DEFAULT_TARGETS: JsonObject = { here: { scheduler: "local" } };

export function readTargets(value: JsonObject, part: Part): Targets {
  const parsed: Record<string, { readonly scheduler: string }> = {};
  const defaults = new Map<string, JsonObject>();
  for (const [name, target] of Object.entries(value)) {
    const path = ["targets", name];
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) {
      part.report.problem(
        path,
        "a target's name is 1 to 64 letters, digits, _ and -, not beginning with _ or -",
      );
      continue;
    }
    const one = readTarget(target, part, path);
    if (one === null) continue;
    parsed[name] = one.config;
    defaults.set(name, one.defaults);
  }
  return { parsed, defaults, names: Object.keys(value) };
}

function readTarget(value: Json, part: Part, path: Path) {
  const { report } = part;
  if (!isJsonObject(value)) {
    report.problem(path, "must be a map, like { scheduler: local }");
    return null;
  }
  const common = TargetFile.safeParse(value);
  if (!common.success) {
    reportIssues(common.error, value, { path, report, schema: TargetFile });
    return null;
  }
  const { scheduler, defaults } = common.data;
  if (!SCHEDULER_NAMES.includes(scheduler)) {
    const expected = didYouMean(scheduler, SCHEDULER_NAMES) || `: expected ${SCHEDULER_NAMES.join(", ")}`;
    report.problem([...path, "scheduler"], `there is no scheduler ${JSON.stringify(scheduler)}${expected}`);
    return null;
  }
  const { defaults: _, ...own } = value;
  checkOptions(scheduler, defaults, { report, path: [...path, "defaults"] });
  const schema = targetSchema(scheduler);
  const parsed = schema.safeParse({ ...withWholePaths(own, part), scheduler });
  if (parsed.success) return { config: parsed.data, defaults };
  reportIssues(parsed.error, value, { path, report, schema });
  return null;
}

/** Scheduler settings that this scheduler does not know are a mistake, not something to hand on. */
export function checkOptions(
  scheduler: string,
  options: JsonObject,
  { report, path }: { readonly report: Report; readonly path: Path },
): void {
  const schema = optionsSchema(scheduler);
  const parsed = schema?.safeParse(options);
  if (schema === null || parsed === undefined || parsed.success) return;
  reportIssues(parsed.error, options, { path, report, schema });
}

/** A local workdir is a path of this machine; that of another scheduler belongs to the cluster and is left alone. */
function withWholePaths(target: JsonObject, { folder, env }: Part): JsonObject {
  const { scheduler, workdir } = target;
  if (scheduler !== "local" || typeof workdir !== "string" || workdir === "" || isAbsolute(workdir))
    return target;
  return { ...target, workdir: resolvePath(workdir, { from: folder, env }) };
}
