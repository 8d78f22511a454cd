import { BridgeError } from "../../../src/domain/errors.ts";
import { type JobLayout, jobLayout } from "./job-layout.ts";

/** `instance` is part of every mark: letters, digits and inner hyphens, so that a mark is a legal Kubernetes name. */
export const INSTANCE = /^[a-z0-9](?:[a-z0-9-]{0,18}[a-z0-9])?$/;

const TAIL = /^[a-z2-7]{26}$/;

/**
 * The 26 characters behind `tr-<instance>-`, or null when the text is no mark of this instance. Nothing that comes from
 * outside becomes part of a path before it has passed here.
 */
export function markTail(mark: string, instance: string): string | null {
  const prefix = `tr-${instance}-`;
  if (!mark.startsWith(prefix)) return null;
  const tail = mark.slice(prefix.length);
  return TAIL.test(tail) ? tail : null;
}

/** Where the mark's job lies. Throws `unreachable` for what is no mark of this instance. */
export function layoutOf(
  place: { readonly target: string; readonly instance: string; readonly workdir: string },
  mark: string,
): JobLayout {
  if (markTail(mark, place.instance) !== null) return jobLayout(place.workdir, mark);
  throw new BridgeError(
    "unreachable",
    place.target,
    `${JSON.stringify(mark.slice(0, 80))} is not a mark of instance ${place.instance}; nothing was started`,
  );
}
