import { dirname } from "node:path";
import type { JsonObject } from "../domain/json.ts";
import { readAuth } from "./auth.ts";
import { isJsonObject, readFields } from "./fields.ts";
import { readTextFile, resolvePath } from "./files.ts";
import { createSchemaCompiler } from "./json-schema.ts";
import { readLimits, readListen } from "./listen.ts";
import type { Part } from "./part.ts";
import { configPlace, defaultStateDir, type Env, type Overrides } from "./places.ts";
import type { Problem } from "./problem.ts";
import { createReport } from "./report.ts";
import { ConfigFile } from "./schema.ts";
import type { Settings } from "./settings.ts";
import { NO_SOURCE, parseYaml, type Source } from "./source.ts";
import { readStore } from "./store.ts";
import { DEFAULT_TARGETS, readTargets } from "./targets.ts";
import { readTools } from "./tools.ts";

export { formatProblems, type Problem } from "./problem.ts";

export type LoadOptions = {
  /** As the caller gave it; null: TAILRACE_CONFIG, then ./tailrace.yaml. */
  readonly path: string | null;
  readonly env: Env;
  readonly cwd: string;
  /** From the command line; they win over the file. */
  readonly overrides?: Overrides;
};

export type Loaded =
  | {
      readonly kind: "ok";
      readonly settings: Settings;
      readonly warnings: readonly string[];
      /** Absolute path of the file; null when there is none, and these are the defaults: a local target, no tools. */
      readonly file: string | null;
    }
  | { readonly kind: "problems"; readonly problems: readonly Problem[] };

const MAX_CONFIG_BYTES = 4 * 1024 ** 2;

/** Reads the configuration and checks all of it. Everything that is wrong comes back at once; nothing is thrown. */
export async function loadSettings(options: LoadOptions): Promise<Loaded> {
  const place = configPlace(options);
  const source = await readSource(place);
  if (source.kind === "problem") {
    const problem = { file: place.shown, line: null, column: null, field: "", message: source.message };
    return { kind: "problems", problems: [problem] };
  }
  const report = createReport(place.shown, source.source);
  for (const problem of source.source.problems) report.misplaced(problem);
  if (!source.source.isReadable) return { kind: "problems", problems: report.problems() };
  const part: Part = { report, source: source.source, env: options.env, folder: dirname(place.path) };
  const settings = await readSettings(part, options);
  const problems = report.problems();
  if (problems.length > 0 || settings === null) return { kind: "problems", problems };
  return { kind: "ok", settings, warnings: report.warnings(), file: source.isFile ? place.path : null };
}

type Read =
  | { readonly kind: "source"; readonly source: Source; readonly isFile: boolean }
  | { readonly kind: "problem"; readonly message: string };

async function readSource({ path, isNamed }: ReturnType<typeof configPlace>): Promise<Read> {
  // Other kinds of files (a module with defineConfig) come in here.
  if (!/\.(?:ya?ml|json)$/.test(path))
    return {
      kind: "problem",
      message: "is no configuration file that can be read: its name must end in .yaml",
    };
  const file = await readTextFile(path, MAX_CONFIG_BYTES);
  if (file.kind === "text") return { kind: "source", source: parseYaml(file.text), isFile: true };
  if (file.isAbsent && !isNamed) return { kind: "source", source: NO_SOURCE, isFile: false };
  return { kind: "problem", message: file.message };
}

async function readSettings(part: Part, options: LoadOptions): Promise<Settings | null> {
  const { report, source } = part;
  const top = readFields(ConfigFile, source.value ?? {}, { path: [], report });
  const targets = readTargets(given(top.targets) ?? DEFAULT_TARGETS, part);
  const tools = await readTools(top.tools ?? {}, { part, targets, compile: createSchemaCompiler() });
  const store = await readStore(top.store, part);
  const auth = await readAuth(top.auth, part);
  const limits = readLimits(top.limits, part);
  const listen = readListen(top.listen, part, { auth, overrides: options.overrides });
  const chosen = chooseTargets(targets.parsed, options.overrides?.targets, part);
  if (
    top.instance === undefined &&
    Object.values(targets.parsed).some(({ scheduler }) => scheduler !== "local")
  )
    report.warning(
      ["instance"],
      `is not set, so it is ${DEFAULT_INSTANCE}: give each Tailrace that shares a cluster a name of its own`,
    );
  const { tuning } = top;
  if (store === null || auth === null || limits === null || listen === null || tuning === undefined)
    return null;
  return {
    stateDir: chooseStateDir(top.stateDir, part, options),
    instance: top.instance ?? DEFAULT_INSTANCE,
    store,
    listen,
    auth,
    limits,
    targets: chosen,
    defaults: Object.fromEntries(targets.defaults),
    tools,
    tuning,
  };
}

/** Fixed: marks hold it, so one that came from the host or the store would lose its jobs with them. */
const DEFAULT_INSTANCE = "local";

function given(map: JsonObject | undefined): JsonObject | null {
  return isJsonObject(map) && Object.keys(map).length > 0 ? map : null;
}

function chooseStateDir(
  stateDir: string | undefined,
  { folder, env }: Part,
  { cwd, overrides }: LoadOptions,
): string {
  if (overrides?.stateDir !== undefined) return resolvePath(overrides.stateDir, { from: cwd, env });
  return stateDir === undefined ? defaultStateDir(env, cwd) : resolvePath(stateDir, { from: folder, env });
}

function chooseTargets(
  targets: Settings["targets"],
  wanted: readonly string[] | undefined,
  { report }: Part,
): Settings["targets"] {
  if (wanted === undefined) return targets;
  for (const name of wanted) {
    if (!Object.hasOwn(targets, name))
      report.outside(
        "--targets",
        `there is no target ${JSON.stringify(name)}: there are ${Object.keys(targets).join(", ")}`,
      );
  }
  return Object.fromEntries(Object.entries(targets).filter(([name]) => wanted.includes(name)));
}
