import { type Command, Option } from "commander";
import type { SteerAction } from "../domain/adapter.ts";
import { Phase } from "../domain/task.ts";
import { taskIdArgument } from "./client-commands.ts";
import { configOption, logLevelOption, type Registry, stateDirOption, wholeNumber } from "./command.ts";
import type { DoctorOptions } from "./doctor/doctor.ts";
import type { ForgetOptions } from "./forget.ts";
import type { ListOptions } from "./list.ts";
import type { ShowOptions } from "./show.ts";
import type { OperatorOptions } from "./with-ledger.ts";

/** What the steering commands do; a scheduler may have or allow some of them only. */
const STEERING: readonly (readonly [SteerAction, string])[] = [
  ["hold", "keep a task's waiting job from starting"],
  ["release", "let a job that is held start when its time comes"],
  ["suspend", "pause a task's running job"],
  ["resume", "let a job that is suspended go on"],
];

/** list · show · forget · hold · release · suspend · resume · validate · doctor: for whoever runs the server. */
export function addOperatorCommands(registry: Registry): void {
  const { program, shell, done } = registry;
  withStore(program.command("list"))
    .description("the tasks of all callers, newest first")
    .option("--ids", "whole task ids: they are credentials")
    .option("--target <name>", "only this target, configured or not")
    .addOption(new Option("--phase <phase>", "only tasks in this phase").choices(Phase.options))
    .option("-n, --limit <count>", "how many", wholeNumber, 50)
    .option("--json", "one JSON object per line")
    .action(async (options: ListOptions) => {
      const { listTasks } = await import("./list.ts");
      done(await listTasks(options, shell));
    });
  withStore(program.command("show"))
    .description("everything the store knows about a task")
    .argument("<taskId>", undefined, taskIdArgument)
    .option("--args", "its arguments too")
    .option("--events <count>", "how many of its newest events", wholeNumber, 10)
    .option("--json", "as one JSON object")
    .action(async (taskId: string, options: ShowOptions) => {
      const { showTask } = await import("./show.ts");
      done(await showTask(taskId, options, shell));
    });
  withStore(program.command("forget"))
    .description("end a task as lost: its target is gone for good, or its job is known to be")
    .argument("<taskId>", undefined, taskIdArgument)
    .option("--why <text>", "the reason that the task will carry", "no reason given")
    .option("-y, --yes", "do not ask")
    .action(async (taskId: string, options: ForgetOptions) => {
      const { forgetTask } = await import("./forget.ts");
      done(await forgetTask(taskId, options, shell));
    });
  addSteeringCommands(registry);
  program
    .command("validate")
    .description("check the configuration and say what it defines")
    .argument("[file]", "default: tailrace.yaml here")
    .addOption(configOption())
    .action(async (file: string | undefined, options: { config?: string }) => {
      const { validate } = await import("./validate.ts");
      done(await validate(file ?? options.config, shell));
    });
  program
    .command("doctor")
    .description("check store, targets, tools and access, and say what to do")
    .addOption(configOption())
    .addOption(stateDirOption())
    .option("--json", "one JSON object per line")
    .action(async (options: DoctorOptions) => {
      const { runDoctor } = await import("./doctor/doctor.ts");
      done(await runDoctor(options, shell));
    });
}

function addSteeringCommands({ program, shell, done }: Registry): void {
  for (const [action, description] of STEERING) {
    withStore(program.command(action))
      .description(description)
      .argument("<taskId>", undefined, taskIdArgument)
      .action(async (taskId: string, options: OperatorOptions) => {
        const { steerTask } = await import("./steer.ts");
        done(await steerTask({ action, taskId }, options, shell));
      });
  }
}

function withStore(command: Command): Command {
  return command
    .addOption(configOption())
    .addOption(stateDirOption())
    .addOption(logLevelOption().default("warn"));
}
