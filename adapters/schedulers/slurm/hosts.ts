/** Names beyond these many are left out: they are for people to read. */
const MOST_HOSTS = 1000;

/** What squeue and sacct write where no node was given. */
const NOBODY = new Set(["", "(null)", "None assigned", "N/A", "None"]);

/**
 * The names in a Slurm host list such as `c[1-3,7],d01` or `r[1-2]n[01-16]`, at most 1,000 of them. Leading zeros
 * count; a list that breaks the rules comes back as it is.
 */
export function expandHosts(list: string): string[] {
  const text = list.trim();
  if (NOBODY.has(text)) return [];
  const items = text.match(/(?:[^,[\]]|\[[^[\]]*\])+/g) ?? [];
  if (items.join(",") !== text) return [text];
  const names: string[] = [];
  for (const item of items) {
    names.push(...expandItem(item, MOST_HOSTS - names.length));
    if (names.length >= MOST_HOSTS) break;
  }
  return names;
}

function expandItem(item: string, most: number): string[] {
  let names = [""];
  for (const part of item.match(/\[[^\]]*\]|[^[]+/g) ?? []) {
    const choices = part.startsWith("[")
      ? part
          .slice(1, -1)
          .split(",")
          .flatMap((one) => range(one, most))
      : [part];
    names = names.flatMap((name) => choices.slice(0, most).map((choice) => name + choice)).slice(0, most);
  }
  return names;
}

function range(text: string, most: number): string[] {
  const [, first, last] = /^(\d{1,9})-(\d{1,9})$/.exec(text) ?? [];
  if (first === undefined || last === undefined) return [text];
  const size = Math.min(Math.max(0, Number(last) - Number(first) + 1), most);
  return Array.from({ length: size }, (_, n) => String(Number(first) + n).padStart(first.length, "0"));
}
