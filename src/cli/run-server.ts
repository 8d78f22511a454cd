import type { Logger } from "pino";
import {
  type Adapters,
  createAdapters,
  type Ledger,
  openLedger,
  startDesk,
  startWorkers,
} from "../compose.ts";
import { createLogger } from "../observe/logger.ts";
import { VERSION } from "../observe/version.ts";
import { reachableUrl, startFailure } from "./desk-address.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { greeting, readyJson } from "./greeting.ts";
import { readServerFile, removeServerFile, writeServerFile } from "./server-file.ts";
import { type ConfigOptions, type Loaded, readUsableSettings } from "./settings.ts";
import type { Shell } from "./shell.ts";
import { aborted, stopOnSignals } from "./signals.ts";

/** `up` is the front desk and the workers in one process. */
export type Role = "up" | "serve" | "work";

export type ServerOptions = ConfigOptions & {
  readonly logLevel: string;
  readonly readyJson?: boolean;
};

type Closer = () => Promise<unknown>;
type House = {
  readonly loaded: Loaded;
  readonly shell: Shell;
  readonly log: Logger;
  readonly opened: Closer[];
};

/** Runs until a signal asks it to stop, then gives everything back: streams end, followers hand over, Redis stops. */
export async function runServer(role: Role, options: ServerOptions, shell: Shell): Promise<ExitCode> {
  const { logLevel, readyJson: asJson = false, ...config } = options;
  const loaded = await readUsableSettings(config, shell);
  for (const warning of loaded.warnings) shell.tell(`warning: ${warning}`);
  const log = createLogger({ level: logLevel });
  const stopping = stopOnSignals((signal) => log.info({ event: "server.stopping", signal }, "stopping"));
  const opened: Closer[] = [];
  try {
    const ready = await open(role, { loaded, shell, log, opened }, stopping.signal);
    if (ready !== null) {
      shell.print(asJson ? readyJson(ready) : greeting(ready));
      log.info({ event: "server.ready", role, url: ready.url, version: VERSION }, "ready");
      await aborted(stopping.signal);
    }
  } finally {
    for (const close of opened.reverse()) await close();
    stopping.release();
  }
  log.info({ event: "server.stopped" }, "stopped");
  return EXIT.ok;
}

/** What was opened first is closed last. Null: asked to stop before everything was up. */
async function open(role: Role, house: House, stop: AbortSignal) {
  const { loaded, shell, log, opened } = house;
  const { settings, file } = loaded;
  const ledger = await openLedger(settings, log);
  opened.push(ledger.close);
  const adapters = createAdapters(settings);
  opened.push(() => Promise.all([...adapters.values()].map((adapter) => adapter.close())));
  if (stop.aborted) return null;
  if (role !== "serve") {
    const workers = await startWorkers(settings, ledger, adapters, log);
    opened.push(workers.close);
  }
  if (stop.aborted) return null;
  const url = role === "work" ? null : await openDesk(house, { ledger, adapters });
  return { settings, url, where: ledger.where, configFile: file, pid: shell.pid };
}

async function openDesk(
  { loaded, shell, log, opened }: House,
  parts: { readonly ledger: Ledger; readonly adapters: Adapters },
): Promise<string> {
  const { settings } = loaded;
  const desk = await startDesk(settings, parts.ledger, parts.adapters, log).catch(async (error: unknown) => {
    throw startFailure(error, settings, await readServerFile(settings.stateDir));
  });
  opened.push(desk.close);
  const url = reachableUrl(desk.url);
  await writeServerFile(settings.stateDir, { url, pid: shell.pid });
  opened.push(() => removeServerFile(settings.stateDir, shell.pid));
  return url;
}
