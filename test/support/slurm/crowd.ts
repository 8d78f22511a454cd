import type { JobRef } from "../../../src/domain/adapter.ts";
import { markOf } from "../jobs.ts";
import type { Cluster } from "./cluster.ts";
import { SLURM_INSTANCE } from "./harness.ts";

const AT_ONCE = 8;

/** So many held batch jobs that carry marks of ours, as submits to `workdir` would have left them. No directories. */
export async function holdMany(cluster: Cluster, workdir: string, count: number): Promise<JobRef[]> {
  const marks = Array.from({ length: count }, () => markOf(SLURM_INSTANCE));
  const script =
    'sbatch --parsable --hold --job-name="$1" --comment="$1 attempt 1" --chdir="$2/$1/work" --output=/dev/null --wrap=true >/dev/null';
  const each = ["sh", "-c", script, "sh", "{}", workdir];
  await cluster.run(["xargs", "-P", `${AT_ONCE}`, "-I", "{}", ...each], {
    input: marks.join("\n"),
    timeoutMs: 120_000,
  });
  const queue = await cluster.run(["squeue", "-h", "-o", "%i %j"]);
  const ids = new Map(queue.split("\n").map((line) => line.split(" ").reverse() as [string, string]));
  return marks.map((mark) => ({ id: ids.get(mark) ?? "missing", mark, attempt: 1 }));
}

const ARRAY = 2000;

/** So many held jobs of another user, each with a record of its own at the controller. */
export async function crowdQueue(cluster: Cluster, count: number): Promise<{ leave(): Promise<void> }> {
  const ids: string[] = [];
  for (let left = count; left > 0; left -= ARRAY) {
    const tasks = Math.min(left, ARRAY);
    const argv = ["sbatch", "--parsable", "--hold", "--chdir=/", "--output=/dev/null"] as const;
    const array = `--array=0-${tasks}`;
    const id = (await cluster.run([...argv, array, "--wrap=true"], { as: "alice" })).trim();
    // A change of all tasks but one gives each of them a record.
    await cluster.run(["scontrol", "update", `jobid=${id}_[1-${tasks}]`, "nice=1"], { timeoutMs: 120_000 });
    ids.push(id);
  }
  return {
    leave: async () => {
      await cluster.run(["scancel", ...ids], { timeoutMs: 120_000 });
    },
  };
}
