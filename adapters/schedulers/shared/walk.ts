import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { advance, type GlobPlace, isMatch } from "./globs.ts";

/** Entries looked at before a walk gives up: memory and time stay bounded whatever a job leaves. */
const MAX_ENTRIES = 200_000;

export type Found =
  | { readonly kind: "file"; readonly name: string }
  | { readonly kind: "skipped"; readonly name: string; readonly reason: string };

/** What matches below a directory, in order of names, without following links. */
export async function* walk(root: string, globs: readonly GlobPlace[]): AsyncGenerator<Found> {
  const budget = { left: MAX_ENTRIES };
  yield* walkInto({ root, name: "", places: globs, budget });
  if (budget.left < 0)
    yield { kind: "skipped", name: "", reason: `only the first ${MAX_ENTRIES} files were looked at` };
}

type Place = {
  readonly root: string;
  readonly name: string;
  readonly places: readonly GlobPlace[];
  readonly budget: { left: number };
};

async function* walkInto(place: Place): AsyncGenerator<Found> {
  let entries: Dirent[];
  try {
    entries = await list(join(place.root, place.name), place.budget);
  } catch (error) {
    const why = error instanceof Error && "code" in error ? String(error.code) : "it cannot be read";
    yield {
      kind: "skipped",
      name: place.name === "" ? "." : place.name,
      reason: `unreadable directory (${why})`,
    };
    return;
  }
  for (const entry of entries) {
    const name = place.name === "" ? entry.name : `${place.name}/${entry.name}`;
    const places = advance(place.places, entry.name);
    if (places.length === 0) continue;
    const found = isMatch(places) ? judge(entry, name, places) : null;
    if (found !== null) yield found;
    if (entry.isDirectory()) yield* walkInto({ ...place, name, places });
  }
}

/** Links, directories and special files are named, so that nobody looks for them in vain. */
function judge(entry: Dirent, name: string, places: readonly GlobPlace[]): Found | null {
  const skipped = (reason: string): Found => ({ kind: "skipped", name, reason });
  if (entry.name.includes("\ufffd")) return skipped("its name is not valid UTF-8");
  if (entry.isSymbolicLink()) return skipped("a symbolic link: links are not followed");
  if (entry.isFile()) return { kind: "file", name };
  if (!entry.isDirectory()) return skipped("no regular file");
  const wholeTree = places.some(({ glob, at }) => glob[at] === "**");
  return wholeTree ? null : skipped(`a directory: "${name}/**" takes what is in it`);
}

async function list(path: string, budget: { left: number }): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(path)) {
    if (--budget.left < 0) break;
    entries.push(entry);
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
