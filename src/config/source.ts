import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
} from "yaml";
import type { Json, JsonObject } from "../domain/json.ts";
import { type Path, show } from "./problem.ts";

export type Place = { readonly line: number; readonly column: number };

/** A configuration file as plain JSON, with the place of every value. */
export type Source = {
  readonly value: Json;
  /** Of the key of a map's member, or of a list's item; for what is not there, of what it is missing from. */
  readonly placeOf: (path: Path) => Place | null;
  /** A scalar as it is written, so that `007` or `1.10` can be kept as text; null for anything else. */
  readonly textOf: (path: Path) => string | null;
  readonly problems: readonly SourceProblem[];
  /** False when the text is no YAML, so that nothing can be said about its values. */
  readonly isReadable: boolean;
};

export type SourceProblem = { readonly path: Path; readonly place: Place; readonly message: string };

const TOO_DEEP: SourceProblem = {
  path: [],
  place: { line: 1, column: 1 },
  message: "the file is nested too deeply",
};
/** One missing bracket can make every later line wrong. */
const MAX_FAULTS = 20;
const MAX_DEPTH = 64;
/** Aliases of aliases can stand for more than any memory holds. */
const MAX_NODES = 100_000;

type Walk = {
  readonly document: Document;
  readonly places: Map<string, Place>;
  readonly texts: Map<string, string>;
  readonly problems: SourceProblem[];
  readonly placeAt: (offset: number) => Place;
  nodes: number;
};

/** Reads YAML 1.2 text. Never throws: what is wrong with the text is in `problems`. */
export function parseYaml(text: string): Source {
  const lines = new LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  let document: Document;
  try {
    document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  } catch (error) {
    // The parser is recursive: deep nesting runs it out of stack, which it mostly reports and sometimes throws.
    if (!(error instanceof RangeError)) throw error;
    return unreadable([TOO_DEEP]);
  }
  if (document.errors.some((error) => error.code === "RESOURCE_EXHAUSTION")) return unreadable([TOO_DEEP]);
  const faults = [...document.errors, ...document.warnings].slice(0, MAX_FAULTS).map(({ message, pos }) => ({
    path: [],
    place: placeAt(pos[0]),
    message: `not valid YAML: ${message.split("\n")[0]}`,
  }));
  if (faults.length > 0) return unreadable(faults);
  const walk: Walk = { document, places: new Map(), texts: new Map(), problems: [], placeAt, nodes: 0 };
  walk.places.set(keyOf([]), { line: 1, column: 1 });
  const value = readNode(walk, document.contents, []);
  return {
    value,
    placeOf: (path) => nearestPlace(walk.places, path),
    textOf: (path) => walk.texts.get(keyOf(path)) ?? null,
    problems: walk.problems,
    isReadable: true,
  };
}

/** What stands for a file where there is none. */
export const NO_SOURCE: Source = {
  value: {},
  placeOf: () => null,
  textOf: () => null,
  problems: [],
  isReadable: true,
};

function unreadable(problems: readonly SourceProblem[]): Source {
  return { ...NO_SOURCE, problems, isReadable: false };
}

function nearestPlace(places: ReadonlyMap<string, Place>, path: Path): Place | null {
  for (let length = path.length; length >= 0; length--) {
    const place = places.get(keyOf(path.slice(0, length)));
    if (place !== undefined) return place;
  }
  return null;
}

function keyOf(path: Path): string {
  return JSON.stringify(path);
}

function complain(walk: Walk, path: Path, message: string): null {
  const place = nearestPlace(walk.places, path) ?? { line: 1, column: 1 };
  walk.problems.push({ path, place, message });
  return null;
}

function readNode(walk: Walk, node: unknown, path: Path): Json {
  walk.nodes += 1;
  if (walk.nodes === MAX_NODES) complain(walk, path, `more than ${MAX_NODES} values, aliases counted in`);
  if (walk.nodes >= MAX_NODES) return null;
  if (path.length > MAX_DEPTH)
    return complain(walk, path, "is nested too deeply (an alias within its own anchor?)");
  if (isAlias(node)) {
    const anchored: unknown = node.resolve(walk.document);
    if (anchored === undefined)
      return complain(walk, path, `*${node.source} has no anchor &${node.source} before it`);
    return readNode(walk, anchored, path);
  }
  if (isMap<Node, Node>(node)) return readMap(walk, node.items, path);
  if (isSeq<Node>(node)) {
    return node.items.map((item, index) => {
      const itemPath = [...path, index];
      notePlace(walk, item, itemPath);
      return readNode(walk, item, itemPath);
    });
  }
  if (isScalar(node)) return readScalar(walk, node, path);
  return null;
}

function readMap(walk: Walk, pairs: readonly Pair<Node, Node>[], path: Path): JsonObject {
  const map: JsonObject = {};
  for (const { key, value } of pairs) {
    const name = nameOf(key);
    if (name === null) {
      complain(walk, path, "has a key that is not plain text");
      continue;
    }
    const memberPath = [...path, name];
    const isDuplicate = Object.hasOwn(map, name);
    if (isDuplicate) {
      const place = placeOf(walk, key) ?? { line: 1, column: 1 };
      walk.problems.push({ path: memberPath, place, message: "is given twice: remove or rename one" });
      continue;
    }
    notePlace(walk, key, memberPath);
    // Assigning to this name would set the object's prototype.
    if (name === "__proto__") complain(walk, memberPath, "is not a name that can be used");
    else if (name.includes("\0")) complain(walk, memberPath, "its name holds a NUL character");
    else map[name] = readNode(walk, value, memberPath);
  }
  return map;
}

function nameOf(key: unknown): string | null {
  if (!isScalar(key) || key.value === null) return null;
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

function notePlace(walk: Walk, node: unknown, path: Path): void {
  const place = placeOf(walk, node);
  if (place !== null) walk.places.set(keyOf(path), place);
}

function placeOf(walk: Walk, node: unknown): Place | null {
  const range = isMap(node) || isSeq(node) || isScalar(node) || isAlias(node) ? node.range : null;
  return range ? walk.placeAt(range[0]) : null;
}

function readScalar(walk: Walk, scalar: { value: unknown; source?: string }, path: Path): Json {
  const { value, source } = scalar;
  if (typeof value === "string") {
    if (value.includes("\0")) complain(walk, path, "holds a NUL character");
    return value;
  }
  if (typeof value === "number" || typeof value === "boolean") {
    if (source !== undefined) walk.texts.set(keyOf(path), source);
    if (typeof value === "number" && !Number.isFinite(value))
      return complain(walk, path, `${show(source ?? value)} is not a number that JSON can hold`);
    return value;
  }
  return value === null || value === undefined
    ? null
    : complain(walk, path, "is of a kind that JSON does not have");
}
