import { type DestinationStream, destination, type Logger, pino } from "pino";

/** JSON lines on stderr: stdout belongs to what a command prints. Secrets and task ids never reach it whole. */
export function createLogger(options: { readonly level: string; readonly to?: DestinationStream }): Logger {
  const redact = ["token", "*.token", "headers.authorization", "*.headers.authorization"];
  return pino({ name: "tailrace", level: options.level, redact }, options.to ?? destination(2));
}
