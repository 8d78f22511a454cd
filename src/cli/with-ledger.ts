import { type Ledger, openLedger } from "../compose.ts";
import type { Settings } from "../config/settings.ts";
import { createLogger } from "../observe/logger.ts";
import { type ConfigOptions, readUsableSettings } from "./settings.ts";
import type { Shell } from "./shell.ts";

export type OperatorOptions = ConfigOptions & { readonly logLevel: string; readonly json?: boolean };

/** Works on the store itself, as the operator who owns it: no server need run, and no token is asked for. */
export async function withLedger<T>(
  options: OperatorOptions,
  shell: Shell,
  work: (ledger: Ledger, settings: Settings) => Promise<T>,
): Promise<T> {
  const { settings } = await readUsableSettings(options, shell);
  const ledger = await openLedger(settings, createLogger({ level: options.logLevel }));
  try {
    return await work(ledger, settings);
  } finally {
    await ledger.close();
  }
}
