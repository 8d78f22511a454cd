import { Command, CommanderError } from "commander";
import { VERSION } from "../observe/version.ts";
import { addClientCommands } from "./client-commands.ts";
import { EXIT, exitCodeHelp } from "./exit-codes.ts";
import { CliFailure, explain } from "./failure.ts";
import { addOperatorCommands } from "./operator-commands.ts";
import { addServerCommands } from "./server-commands.ts";
import type { Shell } from "./shell.ts";
import { addTranslateCommand } from "./translate.ts";

/** Runs one command line to its end and answers its exit code. Never throws. */
export async function runCli(argv: readonly string[], shell: Shell): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = new Command("tailrace")
    .description("Turns batch and HPC jobs into MCP Tasks")
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError("(tailrace <command> --help tells more)")
    .configureOutput({
      writeOut: (text) => shell.print(text.trimEnd()),
      writeErr: (text) => shell.tell(text.trimEnd()),
    })
    .addHelpText("after", exitCodeHelp());
  const register = {
    program,
    shell,
    done: (code: number) => {
      exitCode = code;
    },
  };
  addServerCommands(register);
  addClientCommands(register);
  addOperatorCommands(register);
  addTranslateCommand(register);
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { message, exitCode: code } = explain(error, shell.env["TAILRACE_DEBUG"] === "1");
    shell.tell(error instanceof CliFailure && message.includes("\n") ? message : `tailrace: ${message}`);
    return code;
  }
}
