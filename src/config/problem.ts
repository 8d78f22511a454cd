/** Where a value stands in the configuration: keys and list indexes from the top. */
export type Path = readonly (string | number)[];

/** One fault of the configuration. Lines and columns count from 1; null where there is no file behind the value. */
export type Problem = {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  /** `tools.run_case.run.argv[2]`; empty for the file as a whole. */
  readonly field: string;
  readonly message: string;
};

/** One line per problem: `tailrace.yaml:12:5 tools.run_case.resources.walltime: what is wrong`. */
export function formatProblems(problems: readonly Problem[]): string {
  return problems.map(formatProblem).join("\n");
}

export function formatProblem({ file, line, column, field, message }: Problem): string {
  const place = [file, line, column].filter((part) => part !== null).join(":");
  return field === "" ? `${place}: ${message}` : `${place} ${field}: ${message}`;
}

export function fieldName(path: Path): string {
  return path.reduce<string>((field, part) => {
    if (typeof part === "number") return `${field}[${part}]`;
    if (!/^[A-Za-z0-9_$-]+$/.test(part)) return `${field}[${show(part)}]`;
    return field === "" ? part : `${field}.${part}`;
  }, "");
}

const MAX_SHOWN = 60;

/** A value as it may stand in a message: on one line, cut short, without characters that steer a terminal. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "a map";
  if (typeof value !== "string") return String(value);
  const characters = [...value.slice(0, 2 * MAX_SHOWN)];
  const isLong = value.length > 2 * MAX_SHOWN || characters.length > MAX_SHOWN;
  const text = isLong ? `${characters.slice(0, MAX_SHOWN).join("")}…` : value;
  return JSON.stringify(text).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
