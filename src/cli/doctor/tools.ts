import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Settings } from "../../config/settings.ts";
import type { ToolDefinition } from "../../domain/tool.ts";
import { shown } from "../display/text.ts";
import { type Finding, findingsOf } from "./finding.ts";

/** Whether each tool has a target, and whether what it runs can be run where that can be told: on this machine. */
export async function checkTools(settings: Settings, searchPath: string): Promise<Finding[]> {
  const { warn } = findingsOf("tools");
  if (settings.tools.length === 0)
    return [warn("tools", "none", "define one under tools: without them nobody can start a job")];
  return await Promise.all(settings.tools.map((tool) => checkTool(tool, settings, searchPath)));
}

async function checkTool(tool: ToolDefinition, settings: Settings, searchPath: string): Promise<Finding> {
  const { ok, fail } = findingsOf("tools");
  const target = settings.targets[tool.target];
  if (target === undefined)
    return fail(tool.name, `its target ${tool.target} is not configured`, "add the target, or name another");
  const program = programOf(tool);
  if (program === null || target.scheduler !== "local") return ok(tool.name, `runs on ${tool.target}`);
  const place = await findProgram(program, searchPath);
  if (place !== null) return ok(tool.name, `runs on ${tool.target} with ${shown(place)}`);
  return fail(
    tool.name,
    `${shown(program)} is not here, or is no program`,
    "install it, or correct the script's first line or argv[0]",
  );
}

/** The program that the kernel starts first; null where only the call decides. */
function programOf({ run }: ToolDefinition): string | null {
  if (run.kind === "argv") {
    const [program = ""] = run.argv;
    return program.includes("${") ? null : program;
  }
  const [interpreter, argument] = /^#!\s*(\S+)(?:[ \t]+(\S+))?/.exec(run.text)?.slice(1) ?? [];
  if (interpreter === undefined) return "/bin/sh";
  const isEnv = interpreter.endsWith("/env") && argument !== undefined && !argument.startsWith("-");
  return isEnv ? argument : interpreter;
}

async function findProgram(program: string, searchPath: string): Promise<string | null> {
  // A path that is relative starts in the job's own directory, which is not there yet.
  if (program.includes("/")) return !program.startsWith("/") || (await isProgram(program)) ? program : null;
  for (const dir of searchPath.split(delimiter)) {
    const file = join(dir, program);
    if (dir !== "" && (await isProgram(file))) return file;
  }
  return null;
}

async function isProgram(file: string): Promise<boolean> {
  return await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
