import { drawnTokenPath } from "../auth/drawn-token.ts";
import type { Settings } from "../config/settings.ts";
import { oneLine } from "../mcp/words.ts";
import { VERSION } from "../observe/version.ts";

/** What a server that has come up has to say. `url` null: workers only. */
export type Ready = {
  readonly settings: Settings;
  readonly url: string | null;
  readonly where: string;
  readonly configFile: string | null;
  readonly pid: number;
};

/** The file with the bearer token of this server; null where none was drawn. */
export function tokenFileOf(settings: Settings): string | null {
  return settings.auth.kind === "drawn" ? drawnTokenPath(settings.stateDir) : null;
}

/** One line for scripts. */
export function readyJson({ settings, url, where, pid }: Ready): string {
  return JSON.stringify({
    url,
    tokenFile: url === null ? null : tokenFileOf(settings),
    stateDir: settings.stateDir,
    pid,
    store: where,
    targets: Object.keys(settings.targets),
    tools: settings.tools.map((tool) => tool.name),
  });
}

/** The block that `up`, `serve` and `work` print once. */
export function greeting(ready: Ready): string {
  const { settings, url, where, configFile } = ready;
  const rows: [string, string][] = [
    ...(url === null ? [] : [["URL", url] as [string, string], tokenRow(settings)]),
    ["State", settings.stateDir],
    ["Store", where],
    ...(configFile === null ? [] : [["Config", configFile] as [string, string]]),
    ["Targets", targetsText(settings)],
    ["Tools", settings.tools.length === 0 ? "none" : ""],
  ];
  const tools = settings.tools.map(({ name, title, description, target }) =>
    `    ${name} → ${target}   ${oneLine(title ?? description, 70)}`.trimEnd(),
  );
  return [
    `Tailrace ${VERSION} is ready${url === null ? " to work" : ""}`,
    "",
    ...rows.map(([name, value]) => `  ${name.padEnd(8)} ${value}`.trimEnd()),
    ...tools,
    ...(url === null ? [] : ["", ...snippet(settings, url)]),
    "",
  ].join("\n");
}

function tokenRow(settings: Settings): [string, string] {
  switch (settings.auth.kind) {
    case "drawn":
      return ["Token", `in ${drawnTokenPath(settings.stateDir)}`];
    case "tokens":
      return ["Token", `as configured (${settings.auth.tokens.map(({ name }) => name).join(", ")})`];
    case "none":
      return ["Token", "none: every caller is the same one (auth: none)"];
    default:
      return settings.auth satisfies never;
  }
}

function targetsText({ targets }: Settings): string {
  const texts = Object.entries(targets).map(([name, { scheduler }]) => `${name} (${scheduler})`);
  return texts.length === 0 ? "none" : texts.join(", ");
}

/** Ready to paste. The token is read where the snippet is run and is in no file of ours but its own. */
function snippet(settings: Settings, url: string): string[] {
  const { auth, stateDir } = settings;
  const isOpen = auth.kind === "none";
  const bearer =
    auth.kind === "drawn" ? `$(cat ${shellQuoted(drawnTokenPath(stateDir))})` : "$TAILRACE_TOKEN";
  const header = isOpen ? "" : ` --header "Authorization: Bearer ${bearer}"`;
  const entry = {
    type: "http",
    url,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills this in from its environment
    ...(isOpen ? {} : { headers: { Authorization: "Bearer ${TAILRACE_TOKEN}" } }),
  };
  return [
    "  Add it to a client:",
    `    claude mcp add --transport http tailrace ${url}${header}`,
    `    ${JSON.stringify({ mcpServers: { tailrace: entry } })}`,
  ];
}

/** One word for a POSIX shell. */
function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
