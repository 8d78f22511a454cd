/**
 * Output globs, matched part by part so that a walk can leave out directories in which nothing can match. `*` and `?`
 * stay within a part, `**` stands for any number of parts, `[ab]`, `[!a-c]` and `{x,y}` as usual, `\` takes the next
 * character as it is. A leading dot must be written out.
 */
export type GlobPart = RegExp | "**";
export type Glob = readonly GlobPart[];

/** A place within a glob: how many of its parts are used up. Several at once, because of `**`. */
export type GlobPlace = { readonly glob: Glob; readonly at: number };

/** Throws a sentence about a glob that leaves the work directory or cannot be read. */
export function parseGlobs(texts: readonly string[]): GlobPlace[] {
  return texts.flatMap((text) => expandBraces(text)).map((text) => ({ glob: parseGlob(text), at: 0 }));
}

function parseGlob(text: string): Glob {
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  if (text.startsWith("/") || parts.includes("..") || text.includes("\0"))
    throw new Error(`the output glob ${JSON.stringify(text)} leaves the work directory`);
  if (parts.length === 0) throw new Error(`the output glob ${JSON.stringify(text)} names nothing`);
  return parts.map((part) => (part === "**" ? part : parsePart(part)));
}

function parsePart(part: string): RegExp {
  let source = "";
  for (let index = 0; index < part.length; index++) {
    const character = part[index] ?? "";
    const set = /^\[(!|\^)?(\]?[^\]]*)\]/.exec(part.slice(index));
    if (character === "*") source += "[^/]*";
    else if (character === "?") source += "[^/]";
    else if (set !== null && set[2] !== "") {
      source += `[${set[1] === undefined ? "" : "^"}${(set[2] ?? "").replaceAll(/[\\\]^[]/g, "\\$&")}]`;
      index += set[0].length - 1;
    } else if (character === "\\" && index + 1 < part.length) source += quote(part[++index] ?? "");
    else source += quote(character);
  }
  const dot = /^[*?[]/.test(part) ? "(?!\\.)" : "";
  try {
    return new RegExp(`^${dot}${source.replaceAll(/(\[\^\/\]\*)+/g, "[^/]*")}$`, "su");
  } catch (cause) {
    throw new Error(`the output glob part ${JSON.stringify(part)} cannot be read`, { cause });
  }
}

function quote(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
}

const MAX_ALTERNATIVES = 256;

/** `a{b,c}d` → `abd`, `acd`; nested braces too. Braces without a comma stay as they are. */
function expandBraces(text: string): string[] {
  let results = [text];
  for (;;) {
    const next = results.flatMap(expandOnce);
    if (next.length === results.length) return results;
    if (next.length > MAX_ALTERNATIVES)
      throw new Error(
        `the output glob ${JSON.stringify(text)} stands for more than ${MAX_ALTERNATIVES} globs`,
      );
    results = next;
  }
}

function expandOnce(text: string): string[] {
  const match = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(text);
  if (match === null) return [text];
  const [, before = "", inside = "", after = ""] = match;
  return inside.split(",").map((one) => `${before}${one}${after}`);
}

/** Where the globs stand after one more directory or file name. */
export function advance(places: readonly GlobPlace[], name: string): GlobPlace[] {
  const next = new Map<string, GlobPlace>();
  const add = (glob: Glob, at: number, index: number) => next.set(`${index}:${at}`, { glob, at });
  const globs = [...new Set(places.map((place) => place.glob))];
  const visit = (glob: Glob, at: number) => {
    const part = glob[at];
    if (part === undefined) return;
    const index = globs.indexOf(glob);
    if (part !== "**") {
      if (part.test(name)) add(glob, at + 1, index);
      return;
    }
    if (!name.startsWith(".")) add(glob, at, index);
    visit(glob, at + 1);
  };
  for (const place of places) visit(place.glob, place.at);
  return [...next.values()];
}

/** True when some glob is used up here, so that it matches what has just been walked to. */
export function isMatch(places: readonly GlobPlace[]): boolean {
  return places.some(({ glob, at }) => glob.slice(at).every((part) => part === "**"));
}
