import type { Command } from "commander";
import {
  configOption,
  logLevelOption,
  portNumber,
  type Registry,
  several,
  stateDirOption,
} from "./command.ts";
import type { Role, ServerOptions } from "./run-server.ts";

/** up · serve · work */
export function addServerCommands({ program, shell, done }: Registry): void {
  const add = (role: Role, description: string): Command =>
    program
      .command(role)
      .description(description)
      .addOption(configOption())
      .addOption(stateDirOption())
      .addOption(logLevelOption())
      .option("--ready-json", "when ready, print one JSON line instead of the block for people")
      .action(async (options: ServerOptions) => {
        // Loaded when wanted: a client command should not wait for a server's libraries.
        const { runServer } = await import("./run-server.ts");
        done(await runServer(role, options, shell));
      });
  for (const command of [
    add("up", "everything in one process: embedded Redis, front desk and workers"),
    add("serve", "the front desk only; any number of them share one Redis"),
  ]) {
    command
      .option("--host <address>", "address to listen on")
      .option("--port <n>", "port to listen on; 0: any free one", portNumber);
  }
  add("work", "the workers only").option("--target <name>", "only this target (repeatable)", several);
}
