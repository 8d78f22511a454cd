import type { JobSpec } from "../domain/adapter.ts";
import type { JsonObject } from "../domain/json.ts";
import type { ToolDefinition } from "../domain/tool.ts";
import {
  argumentEnv,
  argumentProblems,
  argumentText,
  invalidArguments,
  MAX_STRING_BYTES,
} from "./arguments.ts";
import { scriptHash } from "./identity.ts";

const PLACEHOLDER = /\$\{args\.([^}]+)\}/g;

export type SpecOptions = {
  readonly maxArgumentBytes: number;
  /** W3C trace context of the call; text of another form is dropped. */
  readonly traceparent?: string | undefined;
  /** The caller's name. */
  readonly caller?: string | undefined;
};

/**
 * What the task will run, fixed from here on. Throws `invalid_arguments`, naming the fields, for what no job can be
 * given; nothing exists then. `args` have passed the tool's own schema.
 */
export function resolveSpec(tool: ToolDefinition, args: JsonObject, options: SpecOptions): JobSpec {
  const problems = argumentProblems(args, options);
  const { env, problems: envProblems } = argumentEnv(args, tool.env);
  const run = resolveRun(tool, args);
  if (run.kind === "argv" && run.argv.length === 0) {
    problems.push("the command line is empty: the argument that names the program is missing");
  }
  if (run.kind === "argv" && run.argv.some((element) => Buffer.byteLength(element) > MAX_STRING_BYTES)) {
    problems.push("an element of the command line is over 128 KiB");
  }
  problems.push(...envProblems);
  if (problems.length > 0) throw invalidArguments(problems);
  const { cpus, memoryMib, walltimeSeconds, gpus } = tool.resources;
  const total = resolveTotal(tool.progress.total, args);
  return {
    tool: tool.name,
    run,
    args,
    env: { ...tool.env, ...env },
    resources: { cpus, walltimeSeconds, gpus, ...(memoryMib === null ? {} : { memoryMib }) },
    outputs: [...tool.outputs],
    solver: tool.solver,
    progress: {
      ...(total === null ? {} : { total }),
      ...(tool.progress.unit === null ? {} : { unit: tool.progress.unit }),
    },
    options: tool.options,
    ...(tool.outputSchema === null ? {} : { outputSchema: tool.outputSchema }),
    ...(options.caller === undefined ? {} : { caller: options.caller }),
    ...(isTraceparent(options.traceparent) ? { traceparent: options.traceparent } : {}),
  };
}

function resolveRun(tool: ToolDefinition, args: JsonObject): JobSpec["run"] {
  if (tool.run.kind === "script") {
    const { name, text } = tool.run;
    return { kind: "script", name, text, sha256: scriptHash(text) };
  }
  return { kind: "argv", argv: tool.run.argv.flatMap((element) => resolveElement(element, args)) };
}

/**
 * One element stays one element. One that names an absent argument is left out whole, so that `--steps=${args.steps}`
 * of an optional argument never becomes `--steps=`.
 */
function resolveElement(element: string, args: JsonObject): string[] {
  let isComplete = true;
  const text = element.replace(PLACEHOLDER, (_, name: string) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (value === undefined || value === null) {
      isComplete = false;
      return "";
    }
    return argumentText(value);
  });
  return isComplete ? [text] : [];
}

function resolveTotal(total: string | number | null, args: JsonObject): number | null {
  if (typeof total === "number" || total === null) return total;
  const name = /^\$\{args\.([^}]+)\}$/.exec(total)?.[1];
  const value = name !== undefined && Object.hasOwn(args, name) ? args[name] : undefined;
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function isTraceparent(text: string | undefined): text is string {
  return (
    text !== undefined &&
    /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(text)
  );
}
