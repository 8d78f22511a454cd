import { z } from "zod";
import { show } from "./problem.ts";

/*
 * Own parsers, because the usual libraries guess where a mistake costs a job: `ms` takes a bare 30 for 30 ms and
 * accepts years and negatives, `bytes` counts GB in powers of 1024 and knows no GiB.
 */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DURATION = /^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;
const DURATION_UNITS = [7 * DAY, DAY, HOUR, MINUTE, SECOND, 1];
const LONGEST_MS = 3650 * DAY;

/** `30m`, `2h`, `1d12h`, `500ms` → ms; null for anything else. */
export function parseDuration(text: string): number | null {
  const counts = text === "" ? null : DURATION.exec(text)?.slice(1);
  if (counts === undefined || counts === null) return null;
  return counts.reduce((sum, count, index) => sum + Number(count ?? 0) * (DURATION_UNITS[index] ?? 0), 0);
}

/** A duration in ms, at least `leastMs` and at most ten years. */
export function duration({ leastMs }: { readonly leastMs: number }) {
  return z.unknown().transform((value, context) => {
    const ms = typeof value === "string" ? parseDuration(value) : null;
    const problem =
      ms === null
        ? `${show(value)} is not a duration: write e.g. 30m, 2h or 7d`
        : ms < leastMs
          ? `${show(value)} is too short: at least ${leastMs / SECOND}s`
          : ms > LONGEST_MS
            ? `${show(value)} is too long: at most 3650d`
            : null;
    if (ms !== null && problem === null) return ms;
    context.addIssue({ code: "custom", message: problem ?? "" });
    return z.NEVER;
  });
}

const SIZE = /^(\d+(?:\.\d+)?) ?(kB|MB|GB|TB|KiB|MiB|GiB|TiB)$/;
const SIZE_UNITS: Readonly<Record<string, number>> = {
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
};

/** `4GiB`, `512MiB`, `1.5GiB`, `4GB` (powers of 1000) → bytes; null for anything else. */
export function parseSize(text: string): number | null {
  const [, count, unit] = SIZE.exec(text) ?? [];
  if (count === undefined || unit === undefined) return null;
  return Number(count) * (SIZE_UNITS[unit] ?? Number.NaN);
}

/** Memory in whole MiB, rounded up: 1 MiB to 1 PiB. */
export const Memory = z.unknown().transform((value, context) => {
  const bytes = typeof value === "string" ? parseSize(value) : null;
  const mib = bytes === null ? null : Math.ceil(bytes / 1024 ** 2);
  if (mib !== null && mib >= 1 && mib <= 1024 ** 3) return mib;
  context.addIssue({
    code: "custom",
    message:
      mib === null
        ? `${show(value)} is not an amount of memory: write e.g. 512MiB or 4GiB`
        : `${show(value)} is out of range: 1MiB to 1024TiB`,
  });
  return z.NEVER;
});
