/** One measured figure against its bound. Ratios are taken side by side in one run: these machines are shared. */
export type Figure = {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly bound: number;
  /** `at_most` or `at_least` the bound. */
  readonly rule: "at_most" | "at_least";
  /** The two sides of a ratio, for people. */
  readonly detail: string;
};

export function holds({ value, bound, rule }: Figure): boolean {
  return rule === "at_most" ? value <= bound : value >= bound;
}

export function printFigures(figures: readonly Figure[]): void {
  for (const figure of figures) {
    const sign = figure.rule === "at_most" ? "≤" : "≥";
    const verdict = holds(figure) ? "ok  " : "MISS";
    const value = `${round(figure.value)} ${figure.unit}`.trim();
    process.stdout.write(
      `${verdict} ${figure.what}: ${value} (${sign} ${figure.bound}) · ${figure.detail}\n`,
    );
  }
}

export function round(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}

/** The p-quantile (0 to 1) of a sample. */
export function quantile(sample: readonly number[], p: number): number {
  const sorted = [...sample].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN;
}

export function median(sample: readonly number[]): number {
  return quantile(sample, 0.5);
}
