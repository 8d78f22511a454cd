import { plainTable, tableLines } from "./display/result.ts";
import { shown } from "./display/text.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { type Loaded, readSettings } from "./settings.ts";
import type { Shell } from "./shell.ts";

/** Reads the configuration as `up` would, and says what is wrong with it, or what there is. Starts nothing. */
export async function validate(file: string | undefined, shell: Shell): Promise<ExitCode> {
  const loaded = await readSettings(file === undefined ? {} : { config: file }, shell);
  for (const warning of loaded.warnings) shell.tell(`warning: ${warning}`);
  shell.print(overview(loaded).join("\n"));
  return EXIT.ok;
}

export function overview({ settings, file }: Loaded): string[] {
  const targets = plainTable(["target", "scheduler", "tools"]);
  for (const [name, { scheduler }] of Object.entries(settings.targets)) {
    const count = settings.tools.filter((tool) => tool.target === name).length;
    targets.push([name, scheduler, count]);
  }
  const tools = plainTable(["tool", "target", "runs", "arguments", "solver", "walltime"]);
  for (const { name, target, run, inputSchema, solver, resources } of settings.tools) {
    const what = run.kind === "script" ? run.name : run.argv.join(" ");
    const properties = Object.keys(Object(inputSchema["properties"]));
    const walltime = `${Math.round(resources.walltimeSeconds / 60)} min`;
    tools.push([name, target, shown(what, 40), shown(properties.join(", "), 60), solver, walltime]);
  }
  return [
    `${file ?? "no tailrace.yaml here, so these are the defaults"}: no problems`,
    "",
    ...tableLines(targets),
    "",
    ...(settings.tools.length === 0 ? ["  no tools yet"] : tableLines(tools)),
  ];
}
