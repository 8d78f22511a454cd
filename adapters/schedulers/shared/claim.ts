import { writeOnce } from "./atomic-file.ts";
import type { JobLayout } from "./job-layout.ts";
import { readSmall } from "./read-small.ts";

/**
 * Who holds `claim.<attempt>`: a job (its identity as the wrapper wrote it), or we ourselves, so that the attempt never
 * runs: `seized` before a further attempt, `cancelled` while it waited.
 */
export type Claim =
  | { readonly kind: "job"; readonly identity: string }
  | { readonly kind: "seized" | "cancelled"; readonly atMs: number };

/** Null when nobody holds it. */
export async function readClaim(layout: JobLayout, attempt: number): Promise<Claim | null> {
  const text = await readSmall(layout, layout.claim(attempt));
  if (text === null) return null;
  const [, kind, atMs] = /^(seized|cancelled):(\d+)$/.exec(text.trim()) ?? [];
  if (kind === "seized" || kind === "cancelled") return { kind, atMs: Number(atMs) };
  return { kind: "job", identity: text.trim() };
}

/** Takes the claim for ourselves. True: no wrapper can take it any more. */
export async function takeClaim(
  layout: JobLayout,
  attempt: number,
  by: { kind: "seized" | "cancelled"; atMs: number },
): Promise<boolean> {
  return writeOnce(layout.claim(attempt), `${by.kind}:${Math.round(by.atMs)}\n`);
}
