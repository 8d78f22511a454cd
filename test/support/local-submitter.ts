import { createLocalAdapter, LocalTarget } from "../../adapters/schedulers/local/index.ts";
import { JobSpec } from "../../src/domain/adapter.ts";

/**
 * A process of its own that submits one job and is killed: `local-submitter.ts <workdir> <instance> <moment> <request>`.
 * At the moment `accepted` or `lined_up` it kills itself; at `running` it waits to be killed.
 */
const [workdir = "", instance = "", moment = "", text = ""] = process.argv.slice(2);
const { mark, attempt, spec } = JSON.parse(text);
const target = { ...LocalTarget.parse({ scheduler: "local", graceSeconds: 1 }), workdir };
const adapter = createLocalAdapter(
  { name: "here", instance, target },
  {
    now: Date.now,
    reached: async (reached) => {
      if (reached === moment) process.kill(process.pid, "SIGKILL");
    },
  },
);
await adapter.submit({ mark, attempt, spec: JobSpec.parse(spec) }, new AbortController().signal);
process.stdout.write("submitted\n");
setInterval(() => undefined, 1000);
