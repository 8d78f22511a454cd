import type { Env } from "./places.ts";
import type { Report } from "./report.ts";
import type { Source } from "./source.ts";

/** What the reader of one part of the configuration works with. */
export type Part = {
  readonly report: Report;
  readonly source: Source;
  readonly env: Env;
  /** Where relative paths start: the folder of the configuration file. */
  readonly folder: string;
};
