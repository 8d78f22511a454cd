import { shown } from "../display/text.ts";
import type { Finding } from "./finding.ts";

/** A finding for a person: one line, and one more with what to do. */
export function findingText(
  { area, what, status, found, advice }: Finding,
  paint: (text: string) => string,
): string {
  const line = `${paint(status.padEnd(4))}  ${area}: ${shown(what, 100)}: ${shown(found, 400)}`;
  return advice === null ? line : `${line}\n      → ${shown(advice, 300)}`;
}
