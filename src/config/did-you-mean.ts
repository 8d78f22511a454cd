/** ` (did you mean memory?)` when a name within two edits (one, for short names) is known; else nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const allowed = name.length <= 3 ? 1 : 2;
  const near = known
    .map((candidate) => ({ candidate, edits: editsBetween(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ edits }) => edits <= allowed)
    .sort((a, b) => a.edits - b.edits);
  return near[0] === undefined ? "" : ` (did you mean ${near[0].candidate}?)`;
}

/** Insertions, deletions and replacements that lead from one to the other; of long names, only that they are far. */
function editsBetween(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > 2 || from.length > 64) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, character] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...to].entries()) {
      const replaced = (row[j] ?? 0) + (character === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
