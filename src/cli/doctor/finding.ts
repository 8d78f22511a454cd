/** One line of doctor. `advice`: what to do about it. */
export type Finding = {
  readonly area: string;
  readonly what: string;
  readonly status: "ok" | "warn" | "fail";
  readonly found: string;
  readonly advice: string | null;
};

/** Starts every line of one area. */
export function findingsOf(area: string) {
  return {
    ok: (what: string, found: string): Finding => ({ area, what, status: "ok", found, advice: null }),
    warn: (what: string, found: string, advice: string): Finding => ({
      area,
      what,
      status: "warn",
      found,
      advice,
    }),
    fail: (what: string, found: string, advice: string): Finding => ({
      area,
      what,
      status: "fail",
      found,
      advice,
    }),
  };
}

export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
