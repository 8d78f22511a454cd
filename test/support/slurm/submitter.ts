import { run } from "../../../adapters/schedulers/shared/command-runner.ts";
import { JobSpec } from "../../../src/domain/adapter.ts";
import { NEVER } from "../jobs.ts";
import { openSlurm } from "./harness.ts";

// A process that submits one job and is killed the moment sbatch has been answered.
const [workdir = "", request = ""] = process.argv.slice(2);
const { mark, attempt, spec } = JSON.parse(request);
const adapter = openSlurm(workdir, {
  run: async (argv, options) => {
    const result = await run(argv, options);
    if (argv.includes("--parsable") && result.exitCode === 0) process.kill(process.pid, "SIGKILL");
    return result;
  },
});
await adapter.submit({ mark, attempt, spec: JobSpec.parse(spec) }, NEVER);
throw new Error("it was to be killed before this");
