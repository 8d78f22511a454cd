import { fieldName, formatProblem, type Path, type Problem } from "./problem.ts";
import type { Source, SourceProblem } from "./source.ts";

/** Collects what is wrong, so that a whole file is told about at once. */
export type Report = {
  /** Something that must be mended before anything starts. */
  readonly problem: (path: Path, message: string) => void;
  /** The same with a place of its own. */
  readonly misplaced: (problem: SourceProblem) => void;
  /** Something that works, but perhaps not as meant. */
  readonly warning: (path: Path, message: string) => void;
  /** A fault of an environment variable or a command line option: it has no place in the file. */
  readonly outside: (where: string, message: string) => void;
  /** In order of their lines. */
  readonly problems: () => readonly Problem[];
  readonly warnings: () => readonly string[];
};

export function createReport(file: string, source: Source): Report {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const at = (path: Path, message: string): Problem => {
    const place = source.placeOf(path);
    return {
      file,
      line: place?.line ?? null,
      column: place?.column ?? null,
      field: fieldName(path),
      message,
    };
  };
  return {
    problem: (path, message) => void problems.push(at(path, message)),
    misplaced: ({ path, place, message }) =>
      void problems.push({ file, line: place.line, column: place.column, field: fieldName(path), message }),
    warning: (path, message) => void warnings.push(at(path, message)),
    outside: (where, message) =>
      void problems.push({ file: where, line: null, column: null, field: "", message }),
    problems: () => inOrder(problems),
    warnings: () => inOrder(warnings).map(formatProblem),
  };
}

function inOrder(problems: readonly Problem[]): Problem[] {
  return [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}
