import { type Command, InvalidArgumentError } from "commander";
import type { CallOptions, WatchOptions } from "./call.ts";
import type { CancelOptions } from "./cancel.ts";
import { configOption, type Registry, several, stateDirOption, wholeNumber } from "./command.ts";

/** call · watch · cancel: clients of a running server. */
export function addClientCommands({ program, shell, done }: Registry): void {
  withServer(program.command("call"))
    .description("run a tool: make its task, follow it, print what it came to")
    .argument("<tool>")
    .option("-a, --arg <name=value>", "an argument; its type is the tool's to say (repeatable)", several)
    .option("--args-json <json>", "all arguments as a JSON object; - reads stdin, @file a file")
    .option("-k, --key <key>", "names this job: the same key again finds it instead of starting another")
    .option("--no-follow", "print the task id and leave")
    .option("--detach", "as --no-follow, and say how to come back")
    .action(async (tool: string, options: CallOptions) => {
      const { callTool } = await import("./call.ts");
      done(await callTool(tool, options, shell));
    });
  withServer(program.command("watch"))
    .description("follow a task that was made before")
    .argument("<taskId>", undefined, taskIdArgument)
    .option("--after <seq>", "only what came after this event", wholeNumber)
    .action(async (taskId: string, options: WatchOptions) => {
      const { watchTask } = await import("./call.ts");
      done(await watchTask(taskId, options, shell));
    });
  withServer(program.command("cancel"))
    .description("ask for a task's job to be stopped")
    .argument("<taskId>", undefined, taskIdArgument)
    .option("--wait", "wait until it has stopped")
    .action(async (taskId: string, options: CancelOptions) => {
      const { cancelTask } = await import("./cancel.ts");
      done(await cancelTask(taskId, options, shell));
    });
}

function withServer(command: Command): Command {
  return command
    .option("--url <url>", "the server's MCP endpoint (default: the server on the state directory)")
    .option(
      "--token-file <file>",
      "file with the bearer token (else TAILRACE_TOKEN, else the state directory's)",
    )
    .addOption(configOption())
    .addOption(stateDirOption())
    .option("--patience <time>", "how long a server may be away: 90s, 10m, 2h (default: 10m)", waitingTime)
    .option("--json", "JSON lines on stdout, the last one is the result");
}

export function taskIdArgument(text: string): string {
  if (/^[A-Za-z0-9_-]{1,128}$/.test(text)) return text;
  throw new InvalidArgumentError("that is no task id: it begins with t_ and has no dots or blanks.");
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** In ms. A bare number counts seconds. */
export function waitingTime(text: string): number {
  const [, count, unit = "s"] = /^(\d{1,9})(ms|s|m|h)?$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError("expected a time such as 90s, 10m or 2h.");
  return Number(count) * (UNIT_MS[unit] ?? 1000);
}
