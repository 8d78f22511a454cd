/**
 * Output globs, matched part by part so that a walk can leave out directories in which nothing can match. `*` and `?`
 * stay within a part, `**` stands for any number of parts, `[ab]`, `[!a-c]` and `{x,y}` as usual, `\` takes the next
 * character as it is. A leading dot must be written out.
 */
export type GlobPart = "**" | { readonly tokens: readonly Token[]; readonly takesDots: boolean };
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
  return parts.map((part) =>
    part === "**" ? part : { tokens: parsePart(part), takesDots: !/^[*?[]/.test(part) },
  );
}

/** One part of a glob: for each place a star, or what a single character there may be. */
type Token = "*" | ((character: string) => boolean);

function parsePart(part: string): Token[] {
  const tokens: Token[] = [];
  const characters = [...part];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    const close =
      character === "[" ? characters.indexOf("]", index + (isNegated(characters[index + 1]) ? 3 : 2)) : -1;
    if (character === "*") {
      if (tokens.at(-1) !== "*") tokens.push("*");
    } else if (character === "?") tokens.push(() => true);
    else if (close > 0) {
      tokens.push(parseSet(characters.slice(index + 1, close)));
      index = close;
    } else {
      const literal = character === "\\" ? (characters[++index] ?? character) : character;
      tokens.push((one) => one === literal);
    }
  }
  return tokens;
}

function isNegated(character: string | undefined): boolean {
  return character === "!" || character === "^";
}

/** `a-cx`: ranges and single characters, negated by a leading ! or ^. */
function parseSet(characters: readonly string[]): Token {
  const negated = isNegated(characters[0]);
  const members = negated ? characters.slice(1) : characters;
  const ranges: [string, string][] = [];
  for (let index = 0; index < members.length; index++) {
    const from = members[index] ?? "";
    const to = members[index + 1] === "-" ? members[index + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) index += 2;
  }
  return (one) => negated !== ranges.some(([from, to]) => from <= one && one <= to);
}

/** In time of name times part, whatever the number of stars: only the last star is ever tried again. */
function matchesPart(tokens: readonly Token[], name: string): boolean {
  const characters = [...name];
  let token = 0;
  let at = 0;
  let star = -1;
  let taken = 0;
  while (at < characters.length) {
    const expected = tokens[token];
    if (expected === "*") {
      star = token++;
      taken = at;
    } else if (expected?.(characters[at] ?? "")) {
      token++;
      at++;
    } else if (star >= 0) {
      token = star + 1;
      at = ++taken;
    } else return false;
  }
  return tokens.slice(token).every((rest) => rest === "*");
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
      const isHidden = name.startsWith(".") && !part.takesDots;
      if (!isHidden && matchesPart(part.tokens, name)) add(glob, at + 1, index);
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
