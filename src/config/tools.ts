import { SOLVER_NAMES } from "../../adapters/registry.ts";
import type { JsonObject } from "../domain/json.ts";
import type { ToolDefinition } from "../domain/tool.ts";
import { didYouMean } from "./did-you-mean.ts";
import { type Fields, readFields } from "./fields.ts";
import { type Input, isNumeric, readInput } from "./input.ts";
import type { SchemaCompiler } from "./json-schema.ts";
import type { Part } from "./part.ts";
import { argumentNamesIn, placeholderFault } from "./placeholders.ts";
import type { Path } from "./problem.ts";
import { readRun } from "./run.ts";
import { ProgressFile, ResourcesFile, ToolFile } from "./schema.ts";
import { checkOptions, type Targets } from "./targets.ts";

type ToolFields = Fields<typeof ToolFile.shape>;
type Around = { readonly part: Part; readonly targets: Targets; readonly compile: SchemaCompiler };

const DEFAULT_WALLTIME_MS = 3_600_000;
const DEFAULT_WINDOW_MS = 86_400_000;

/** The tools that are right; what is wrong with the others is reported. */
export async function readTools(value: JsonObject, around: Around): Promise<ToolDefinition[]> {
  const tools: ToolDefinition[] = [];
  for (const [name, tool] of Object.entries(value)) {
    const path = ["tools", name];
    if (!/^[A-Za-z0-9_.-]{1,128}$/.test(name))
      around.part.report.problem(path, "a tool's name is 1 to 128 of A-Z a-z 0-9 _ . -");
    const fields = readFields(ToolFile, tool, { path, report: around.part.report });
    const definition = await readTool(name, fields, around);
    if (definition !== null) tools.push(definition);
  }
  return tools;
}

async function readTool(name: string, fields: ToolFields, around: Around): Promise<ToolDefinition | null> {
  const { part } = around;
  const path = ["tools", name];
  const input = readInput(fields, { path, report: part.report, compile: around.compile });
  const target = readTarget(fields.target, path, around);
  const argumentNames = input && Object.keys(input.properties);
  const run = await readRun(fields.run, part, { tool: name, path: [...path, "run"], argumentNames });
  const env = readEnv(fields.env ?? {}, part, path);
  const resources = readResources(fields, part, path);
  const progress = readProgress(fields, input, { part, path });
  checkSolver(fields.solver, part, path);
  const outputSchema = readOutputSchema(fields.output, path, around);
  checkOutputs(fields.outputs ?? [], part, path);
  checkWindow(fields, part, path);
  const { description, solver, outputs, idempotency, tasks, ttl, options } = fields;
  const scheduler = target === null ? undefined : around.targets.parsed[target]?.scheduler;
  if (scheduler !== undefined && options !== undefined)
    checkOptions(scheduler, options, { report: part.report, path: [...path, "options"] });
  if (input === null || target === null || run === null || resources === null) return null;
  if (description === undefined || solver === undefined || outputs === undefined) return null;
  if (idempotency === undefined || tasks === undefined || ttl === undefined) return null;
  return {
    name,
    title: fields.title ?? null,
    description,
    target,
    inputSchema: input.schema,
    outputSchema,
    checkArguments: input.check,
    run,
    env,
    resources,
    solver,
    progress,
    outputs,
    idempotency,
    idempotencyWindowMs: fields.idempotencyWindow ?? DEFAULT_WINDOW_MS,
    tasks,
    ttlMs: ttl,
    options: { ...around.targets.defaults.get(target), ...options },
  };
}

function checkSolver(solver: string | undefined, part: Part, path: Path): void {
  if (solver === undefined || SOLVER_NAMES.includes(solver)) return;
  const expected = didYouMean(solver, SOLVER_NAMES) || `: expected ${SOLVER_NAMES.join(", ")}`;
  part.report.problem([...path, "solver"], `there is no translator ${JSON.stringify(solver)}${expected}`);
}

function readTarget(target: string | undefined, path: Path, { part, targets }: Around): string | null {
  const { names } = targets;
  if (target === undefined) {
    const [only] = names;
    if (only !== undefined && names.length === 1) return only;
    part.report.problem([...path, "target"], `is missing: there are several targets, ${names.join(", ")}`);
    return null;
  }
  if (names.includes(target)) return target;
  const expected = didYouMean(target, names) || `: there are ${names.join(", ")}`;
  part.report.problem([...path, "target"], `there is no target ${JSON.stringify(target)}${expected}`);
  return null;
}

/** Names that a shell keeps for itself, or that the wrapper sets. */
const TAKEN_ENV = new Set(
  "BASHOPTS BASH_VERSINFO EUID GROUPS IFS LINENO OPTIND PPID SHELLOPTS UID TRACEPARENT".split(" "),
);
const MAX_ENV_BYTES = 128 * 1024 - 1;

type Scalars = Readonly<Record<string, string | number | boolean>>;

function readEnv(env: Scalars, { report, source, folder }: Part, path: Path): Record<string, string> {
  // A job runs a copy of its script in a folder of its own: this leads it to the files beside the original.
  const texts: Record<string, string> = { TAILRACE_CONFIG_DIR: folder };
  for (const [name, value] of Object.entries(env)) {
    const at = [...path, "env", name];
    const text = source.textOf(at) ?? String(value);
    texts[name] = text;
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      report.problem(at, "is no name for an environment variable: letters, digits and _ only");
    else if (name.startsWith("TAILRACE_"))
      report.problem(at, "names that begin with TAILRACE_ are set by Tailrace");
    else if (TAKEN_ENV.has(name))
      report.problem(at, "is set by the shell or by Tailrace, and cannot be set here");
    else if (Buffer.byteLength(name) + 1 + Buffer.byteLength(text) > MAX_ENV_BYTES)
      report.problem(at, "is over 128 KiB, more than the system passes on: put it into a file");
  }
  return texts;
}

function readResources({ resources }: ToolFields, { report }: Part, tool: Path) {
  const path = [...tool, "resources"];
  const { cpus, memory, walltime, gpus } = readFields(ResourcesFile, resources ?? {}, { path, report });
  if (cpus === undefined || gpus === undefined) return null;
  const isMissing = !isGiven(resources, "walltime");
  if (isMissing)
    report.warning([...path, "walltime"], "is missing, so a job is stopped after 1h: give it, e.g. 30m");
  const walltimeSeconds = Math.ceil((walltime ?? DEFAULT_WALLTIME_MS) / 1000);
  return { cpus, memoryMib: memory ?? null, walltimeSeconds, gpus };
}

function isGiven(value: unknown, key: string): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).some(([name, member]) => name === key && member !== null)
  );
}

type Place = { readonly part: Part; readonly path: Path };

function readProgress(
  { progress }: ToolFields,
  input: Input | null,
  { part, path }: Place,
): ToolDefinition["progress"] {
  const { report } = part;
  const at = [...path, "progress"];
  const { total, unit } = readFields(ProgressFile, progress ?? {}, { path: at, report });
  if (typeof total === "string") {
    const fault = totalFault(total, input);
    if (fault !== null) report.problem([...at, "total"], fault);
  }
  return { total: total ?? null, unit: unit ?? null };
}

function totalFault(total: string, input: Input | null): string | null {
  const names = input === null ? null : Object.keys(input.properties);
  const fault = placeholderFault(total, names);
  if (fault !== null) return fault;
  const [name] = argumentNamesIn(total);
  if (name === undefined || total !== `\${args.${name}}`)
    return `must be a number, or one \${args.<name>} and nothing else`;
  if (input === null || isNumeric(input.properties[name])) return null;
  return `\${args.${name}} is no number: give it type number or integer, or take another argument`;
}

function readOutputSchema(
  output: JsonObject | undefined,
  path: Path,
  { part, compile }: Around,
): JsonObject | null {
  if (output === undefined) return null;
  const compiled = compile(output);
  if ("faults" in compiled) {
    for (const fault of compiled.faults)
      part.report.problem([...path, "output", ...fault.path], fault.message);
  }
  return output;
}

function checkWindow({ idempotency, idempotencyWindow }: ToolFields, { report }: Part, path: Path): void {
  if (idempotencyWindow !== undefined && idempotency !== "arguments")
    report.warning([...path, "idempotencyWindow"], "has no effect without idempotency: arguments");
}

function checkOutputs(outputs: readonly string[], { report }: Part, path: Path): void {
  for (const [index, glob] of outputs.entries()) {
    const parts = glob.split(/[/{},]/);
    const isAbsolute = glob.startsWith("/") || /[{,]\//.test(glob);
    if (isAbsolute || parts.includes(".."))
      report.problem(
        [...path, "outputs", index],
        `${JSON.stringify(glob)} leaves the job's work directory: give a path below it, without ..`,
      );
  }
}
