/** 42s · 12m · 3h 20m · 5d 4h: what a person reads at a glance. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return withRest(hours, "h", minutes % 60, "m");
  return withRest(Math.floor(hours / 24), "d", hours % 24, "h");
}

function withRest(count: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${count}${unit}` : `${count}${unit} ${rest}${restUnit}`;
}

/** What could act on a terminal, start a line, or turn the direction of the text. */
const ACTIVE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/** Text of a job or a scheduler on one line, without control characters, cut to `limit` characters. */
export function oneLine(text: string, limit: number): string {
  const clean = text.replace(ACTIVE, " ").trim();
  return clean.length > limit ? `${clean.slice(0, limit - 1)}…` : clean;
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** c3 · c3, c4 · c3 and 7 more */
export function nodesText(nodes: readonly string[]): string {
  const [first = "", ...more] = nodes;
  if (more.length > 2) return `${oneLine(first, 60)} and ${more.length} more`;
  return nodes.map((node) => oneLine(node, 60)).join(", ");
}
