import { basename } from "node:path";
import type { Json } from "../domain/json.ts";
import type { ToolDefinition } from "../domain/tool.ts";
import { readFields } from "./fields.ts";
import { readTextFile, resolvePath } from "./files.ts";
import type { Part } from "./part.ts";
import { argumentNamesIn, codeHazard, placeholderFault } from "./placeholders.ts";
import type { Path } from "./problem.ts";
import { RunFile } from "./schema.ts";

type Run = ToolDefinition["run"];

const MAX_SCRIPT_BYTES = 1024 ** 2;

export type RunPlace = {
  readonly tool: string;
  readonly path: Path;
  readonly argumentNames: readonly string[] | null;
};

/** `run`: a script, as a file or as text, or a command line. null when it cannot be used. */
export async function readRun(value: Json | undefined, part: Part, place: RunPlace): Promise<Run | null> {
  const { report } = part;
  // A tool without it has been told so with its other keys.
  if (value === undefined) return null;
  const fields = readFields(RunFile, value, { path: place.path, report });
  if (fields.script !== undefined && fields.argv !== undefined) {
    report.problem([...place.path, "argv"], "there is script already: give one of the two");
    return null;
  }
  if (fields.script !== undefined) return readScript(fields.script, part, place);
  if (fields.argv === undefined) {
    const hasTried = typeof value === "object" && value !== null && ("argv" in value || "script" in value);
    if (!hasTried) report.problem(place.path, "must have script or argv: what is to be run");
    return null;
  }
  return readArgv(fields.argv, part, place);
}

async function readScript(script: string, part: Part, { tool, path }: RunPlace): Promise<Run | null> {
  const { report, folder, env } = part;
  const place = [...path, "script"];
  if (script.includes("\n") || script.startsWith("#!")) {
    const text = checkedScript(script, (message) => report.problem(place, message));
    if (text !== null) warnOfNoInterpreter(text, part, place);
    return text === null ? null : { kind: "script", name: `${tool}.sh`, text };
  }
  const file = await readTextFile(resolvePath(script, { from: folder, env }), MAX_SCRIPT_BYTES);
  const complain = (message: string) => report.problem(place, `the script ${script} ${message}`);
  if (file.kind === "unusable") {
    complain(file.message);
    return null;
  }
  const text = checkedScript(file.text, complain);
  if (text !== null) warnOfNoInterpreter(text, part, place);
  return text === null ? null : { kind: "script", name: basename(script), text };
}

function checkedScript(text: string, complain: (message: string) => void): string | null {
  if (text.trim() === "") complain("is empty");
  else if (Buffer.byteLength(text) > MAX_SCRIPT_BYTES) complain(`has more than ${MAX_SCRIPT_BYTES} bytes`);
  else if (/^\uFEFF/.test(text))
    complain("begins with a byte order mark, which no shell understands: remove it");
  // The kernel would look for an interpreter whose name ends in a carriage return.
  else if (/^#![^\n]*\r/.test(text)) complain("has Windows line ends: convert it, e.g. with dos2unix");
  else return text;
  return null;
}

function warnOfNoInterpreter(text: string, { report }: Part, path: Path): void {
  if (!text.startsWith("#!"))
    report.warning(path, "the script has no #! line: begin it with its interpreter, e.g. #!/bin/bash");
}

function readArgv(argv: readonly (string | number | boolean)[], part: Part, place: RunPlace): Run | null {
  const { report, source } = part;
  const path = [...place.path, "argv"];
  const texts = argv.map((element, index) => source.textOf([...path, index]) ?? String(element));
  let isFine = true;
  const complain = (at: Path, message: string) => {
    report.problem(at, message);
    isFine = false;
  };
  for (const [index, text] of texts.entries()) {
    const at = [...path, index];
    const fault = placeholderFault(text, place.argumentNames);
    if (fault !== null) complain(at, fault);
    const hazard = codeHazard(texts, index);
    if (hazard !== null) complain(at, hazard);
  }
  const program = texts[0] ?? "";
  if (program === "" || program.startsWith("-")) complain([...path, 0], "must be the program to run");
  if (/^[^/$]*\//.test(program) && !program.startsWith("/")) {
    const full = resolvePath(program, { from: part.folder, env: part.env });
    complain(
      [...path, 0],
      `is a path within the job's own folder, which is empty when it starts: write ${full}, or give the file as script`,
    );
  }
  if (argumentNamesIn(program).length > 0)
    report.warning([...path, 0], "whoever calls this tool chooses the program that runs");
  return isFine ? { kind: "argv", argv: texts } : null;
}
