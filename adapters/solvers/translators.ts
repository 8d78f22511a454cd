import type { Translator } from "../../src/domain/translator.ts";
import { createAutoTranslator } from "./detect.ts";
import { generic } from "./generic.ts";
import { openfoamTranslator } from "./openfoam.ts";

/** Programs that we can tell by their first lines. A new one is a file beside these and a place here. */
const PROGRAMS: readonly Translator[] = [openfoamTranslator];

const TRANSLATORS: ReadonlyMap<string, Translator> = new Map(
  [createAutoTranslator(PROGRAMS, generic), ...PROGRAMS, generic].map((one) => [one.name, one]),
);

/** What a tool's `solver` may be. */
export const SOLVER_NAMES: readonly string[] = [...TRANSLATORS.keys()];

/** Throws for a name that is not in SOLVER_NAMES. */
export function translatorFor(name: string): Translator {
  const translator = TRANSLATORS.get(name);
  if (translator === undefined) {
    throw new Error(`there is no solver ${JSON.stringify(name)}: expected one of ${SOLVER_NAMES.join(", ")}`);
  }
  return translator;
}
