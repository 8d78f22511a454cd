import { NO_FINDINGS } from "../../src/domain/findings.ts";
import type { Translator } from "../../src/domain/translator.ts";

const generic: Translator = {
  name: "generic",
  detect: () => 0,
  start: () => ({}),
  step: (state) => ({ state, notes: [] }),
  findings: () => NO_FINDINGS,
};

const TRANSLATORS: ReadonlyMap<string, Translator> = new Map([["generic", generic]]);

/** What a tool's `solver` may be. */
export const SOLVER_NAMES: readonly string[] = ["auto", ...TRANSLATORS.keys()];

/** Throws for a name that is not in SOLVER_NAMES. */
export function translatorFor(name: string): Translator {
  const translator = name === "auto" ? generic : TRANSLATORS.get(name);
  if (translator === undefined) {
    throw new Error(`there is no solver ${JSON.stringify(name)}: expected one of ${SOLVER_NAMES.join(", ")}`);
  }
  return translator;
}
