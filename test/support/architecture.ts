import { posix } from "node:path";
import { parseSync, Visitor } from "vite";

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

interface Import {
  readonly name: string;
  readonly isType: boolean;
}

const DOMAIN = "src/domain";
const SHARED = "adapters/schedulers/shared";
const RUNNER = `${SHARED}/command-runner.ts`;

/**
 * Who may import whom, beside its own room. `rooms`: other rooms. `packages`: npm packages, `node:*` for
 * Node's own modules, `type:x` for the types of x alone. `*` is everything but compose and cli.
 */
const MAY_IMPORT: Record<string, { rooms: readonly string[]; packages: readonly string[] }> = {
  "src/domain": { rooms: [], packages: ["zod"] },
  "src/tasks": { rooms: [DOMAIN], packages: ["node:*", "zod", "ajv", "ajv-formats", "type:pino"] },
  "src/store": { rooms: [DOMAIN], packages: ["node:*", "zod", "ioredis", "type:pino"] },
  "src/mcp": {
    rooms: ["src/tasks", DOMAIN],
    packages: [
      "node:*",
      "zod",
      "hono",
      "@hono/node-server",
      "@modelcontextprotocol/server",
      "ajv",
      "ajv-formats",
      "mime",
      "type:pino",
    ],
  },
  "src/auth": { rooms: [DOMAIN], packages: ["node:*", "zod"] },
  // src/tasks and src/auth own the rules of argument names and token hashes that a file is checked against.
  "src/config": {
    rooms: [DOMAIN, "src/tasks", "src/auth", "adapters/registry.ts"],
    packages: ["node:*", "zod", "yaml", "ajv", "ajv-formats"],
  },
  "src/observe": { rooms: [DOMAIN], packages: ["node:*", "pino"] },
  "src/web": { rooms: ["src/tasks", DOMAIN], packages: ["node:*", "zod", "hono"] },
  "src/compose.ts": { rooms: ["*"], packages: ["*"] },
  "src/cli": { rooms: ["*", "src/compose.ts"], packages: ["*"] },
  "adapters/schedulers/*": {
    rooms: [SHARED, DOMAIN],
    packages: ["node:*", "zod", "yaml", "mime", "tinyglobby", "@kubernetes/client-node", "type:pino"],
  },
  "adapters/schedulers/shared": {
    rooms: [DOMAIN],
    packages: ["node:*", "zod", "mime", "tinyglobby", "execa", "type:pino"],
  },
  "adapters/solvers": { rooms: [DOMAIN], packages: [] },
  "adapters/registry.ts": {
    rooms: [DOMAIN, SHARED, "adapters/schedulers/*", "adapters/solvers"],
    packages: ["type:zod"],
  },
  workers: { rooms: [DOMAIN, "src/observe"], packages: ["bullmq", "type:pino"] },
};

/** Every way in which the files break the rules, one sentence each, beginning with the path. */
export function checkArchitecture(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => complaintsAbout(file).map((complaint) => `${file.path} ${complaint}`));
}

function complaintsAbout({ path, text }: SourceFile): string[] {
  const { imports, habits } = readSource(path, text);
  const opensRedis =
    habits.has("new Redis") && path !== "src/compose.ts" && !path.startsWith("test/support/");
  const redis = opensRedis ? ["may not open a Redis connection"] : [];
  if (path.startsWith("test/")) return redis;
  const room = roomOf(path);
  if (room === undefined) return ["is in no room of MAY_IMPORT"];
  return [
    ...imports.flatMap((one) => importComplaint(path, room, one)),
    ...redis,
    ...(habits.has("default export") ? ["has a default export"] : []),
    ...(habits.has("any") ? ["uses any"] : []),
    ...(/\b(TODO|FIXME)\b/.test(text) ? ["leaves a note for later (say why, or do it)"] : []),
    ...(text.replace(/\n$/, "").split("\n").length > 300 ? ["has more than 300 lines"] : []),
  ];
}

function importComplaint(path: string, room: string, { name, isType }: Import): string[] {
  if (name === "") return ["imports a computed name"];
  const allowed = MAY_IMPORT[ruleOf(room)] ?? { rooms: [], packages: [] };
  if (name.startsWith(".")) {
    const target = posix.join(posix.dirname(path), name);
    return mayEnter(room, roomOf(target), allowed.rooms) ? [] : [`may not import ${target}`];
  }
  if (name === "execa") return path === RUNNER ? [] : ["may not import execa"];
  const packageName = name.startsWith("node:")
    ? "node:*"
    : name
        .split("/")
        .slice(0, name[0] === "@" ? 2 : 1)
        .join("/");
  const { packages } = allowed;
  if (packages.includes("*") || packages.includes(packageName)) return [];
  if (!packages.includes(`type:${packageName}`)) return [`may not import ${name}`];
  return isType ? [] : [`may not import ${name} as a value`];
}

function mayEnter(from: string, to: string | undefined, rooms: readonly string[]): boolean {
  if (to === undefined) return false;
  if (to === from || rooms.includes(to) || rooms.includes(ruleOf(to))) return true;
  return rooms.includes("*") && to !== "src/compose.ts" && to !== "src/cli";
}

function roomOf(path: string): string | undefined {
  if (path === "src/cli.ts") return "src/cli";
  const scheduler = /^adapters\/schedulers\/[^/]+(?=\/)/.exec(path)?.[0];
  return scheduler ?? Object.keys(MAY_IMPORT).find((room) => path === room || path.startsWith(`${room}/`));
}

function ruleOf(room: string): string {
  return room in MAY_IMPORT ? room : room.replace(/^(adapters\/schedulers)\/[^/]+$/, "$1/*");
}

function readSource(path: string, text: string): { imports: Import[]; habits: Set<string> } {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const imports: Import[] = [];
  const habits = new Set<string>();
  const found = (source: { value: unknown } | null, isType: boolean) => {
    if (source !== null) imports.push({ name: String(source.value), isType });
  };
  new Visitor({
    ImportDeclaration: (node) => {
      const { specifiers } = node;
      const isType =
        specifiers.length > 0 && specifiers.every((one) => "importKind" in one && one.importKind === "type");
      found(node.source, node.importKind === "type" || isType);
    },
    ExportNamedDeclaration: (node) => found(node.source, node.exportKind === "type"),
    ExportAllDeclaration: (node) => found(node.source, node.exportKind === "type"),
    ImportExpression: (node) => found(node.source.type === "Literal" ? node.source : { value: "" }, false),
    TSImportType: (node) => found(node.source, true),
    ExportDefaultDeclaration: () => void habits.add("default export"),
    TSAnyKeyword: () => void habits.add("any"),
    NewExpression: ({ callee }) => {
      if (callee.type === "Identifier" && /^(IO)?Redis$/.test(callee.name)) habits.add("new Redis");
    },
  }).visit(program);
  return { imports, habits };
}
