import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { markOf, NEVER, quoted, scriptSpec } from "../support/jobs.ts";
import { removeTree } from "../support/remove-tree.ts";
import { clusterFromEnv } from "../support/slurm/cluster.ts";
import { openSlurm } from "../support/slurm/harness.ts";
import { NEVER_RUNS, REFUSED, REFUSED_BY_ACCOUNTS } from "../support/slurm/refusal-cases.ts";
import { type SlurmWorld, startSlurmWorld } from "../support/slurm/world.ts";
import { scriptTool } from "../support/world.ts";

const cluster = clusterFromEnv();
const TRUE = "#!/bin/sh\ntrue\n";
const SHORT = { cpus: 1, memoryMib: null, walltimeSeconds: 60, gpus: 0 };
/** Its end is told at once: no second look is waited for. */
const ONCE = { requeue: false };

let dir: string;
let world: SlurmWorld;
const PARTITIONS = { drained: "state=DRAIN", private: "allowgroups=slurm" };
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "tr-refusals-"));
  for (const [name, how] of Object.entries(PARTITIONS))
    await cluster.run(["scontrol", "create", `partition=${name}`, "nodes=ALL", how]);
  const failing = ["sbatch", "--parsable", "--output=/dev/null", "--wrap=false"] as const;
  const failed = (await cluster.run(failing)).trim();
  const cases = [...REFUSED, ...REFUSED_BY_ACCOUNTS, ...NEVER_RUNS].map(({ asks, options, resources }) =>
    scriptTool(asks, TRUE, { options: options ?? {}, resources: { ...SHORT, ...resources } }),
  );
  world = await startSlurmWorld({
    tools: [
      ...cases,
      scriptTool("dependent", TRUE, { options: { extra: [`--dependency=afterok:${failed}`] } }),
      scriptTool("module", TRUE, { options: { ...ONCE, modules: ["openfoam/11"] } }),
      scriptTool("preamble", TRUE, {
        options: { ...ONCE, preamble: ["source /no/such/setup.sh || exit 7"] },
      }),
      scriptTool("no_interpreter", "#!/no/such/interpreter\necho hi\n", { options: ONCE }),
      scriptTool("dos", "#!/bin/sh\r\necho hi\r\n", { options: ONCE }),
      scriptTool("empty", "", { options: ONCE }),
      ...["capped", "tiny"].map((name) => {
        const options = name === "capped" ? { account: name } : { account: "proj", qos: name };
        return scriptTool(name, `#!/bin/sh\nuntil test -e ${quoted(join(dir, name))}; do sleep 0.1; done\n`, {
          options: { ...ONCE, ...options },
        });
      }),
      scriptTool("say", "", {
        options: ONCE,
        inputSchema: { type: "object", properties: { text: { type: "string" } } },
        run: {
          kind: "argv",
          argv: [
            "sh",
            "-c",
            'printf %s "$1" >argv; printf %s "$TAILRACE_ARG_TEXT" >env',
            "--",
            // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a placeholder of the tool's
            "${args.text}",
          ],
        },
      }),
    ],
  });
});
afterAll(async () => {
  await world.stop();
  for (const name of Object.keys(PARTITIONS)) await cluster.run(["scontrol", "delete", `partition=${name}`]);
  removeTree(dir);
});

describe("a refusal ends the task with Slurm's reason, in plain words first, and leaves nothing", () => {
  test.each([...REFUSED, ...(cluster.hasAccounting ? REFUSED_BY_ACCOUNTS : [])])("$asks", async (one) => {
    const id = await world.start(one.asks);
    const { outcome, text } = await world.outcome(id);
    expect(outcome).toMatchObject({ kind: "rejected", exitCode: null });
    expect(outcome["reason"]).toContain(one.told);
    expect(text).toContain("Refused by the scheduler · ");
    await world.leftNothing(id);
  });

  test("a partition that is closed to the job's user", async () => {
    const adapter = openSlurm(world.workdir, { target: { runAs: { "*": "alice" } } });
    const mark = markOf("test");
    const spec = scriptSpec(TRUE, { options: { partition: "private" } });
    const answer = await adapter.submit({ mark, attempt: 1, spec }, NEVER);
    expect(answer).toEqual({
      kind: "rejected",
      reason:
        "you may not use this partition. Slurm says: " +
        "Batch job submission failed: User's group not permitted to use this partition",
    });
    await adapter.close();
  });
});

if (!cluster.hasAccounting)
  test.each(REFUSED_BY_ACCOUNTS)("without accounting, Slurm takes a job that asks for $asks", async (one) => {
    const id = await world.start(one.asks);
    expect(await world.batchJob(id)).toMatch(/^\d+$/);
  });

describe("a request that is taken and can never run says why, and waits", () => {
  test.each(NEVER_RUNS)("$asks", async ({ asks, told }) => {
    const id = await world.start(asks);
    await says(id, told);
  });

  test("a job that depends on one that failed", async () => {
    const id = await world.start("dependent");
    await says(id, "queued … it will not start as it is: a job it depends on ended the wrong way; cancel it");
  });

  async function says(id: string, told: string): Promise<void> {
    const [phase = "", reason = ""] = told.split(" … ");
    const words = reason.replaceAll(/[()]/g, "\\$&");
    // In its first second Slurm may tell another reason.
    await world.says(id, new RegExp(`^${phase} \\d+s on cluster \\(${words}`), 15_000);
  }
});

const NASTY = `-rf it's "quoted" $(touch pwned) \`touch pwned\` \${HOME} \\n %s\n\n#!x;&|<>*~!\t\x1b[2Jñ ﷽ 🜁 \u2028 --partition=closed`;

/** At once, since each of them waits for a job. */
describe.concurrent("what a job waits for, is told and tells", () => {
  if (cluster.hasAccounting)
    test.each(["capped", "tiny"])(
      "a limit on jobs in the queue is waited out, not refused: %s",
      async (tool) => {
        const ids = [await world.start(tool), await world.start(tool)];
        for (const id of ids) await world.batchJob(id);
        const third = await world.start(tool);
        await world.says(
          third,
          /^being submitted to cluster \(.*Slurm takes no more jobs just now: \w+MaxSubmitJob/,
        );
        writeFileSync(join(dir, tool), "");
        for (const id of [...ids, third]) {
          const { outcome } = await world.outcome(id, 40_000);
          expect(outcome).toMatchObject({ kind: "succeeded", ok: true });
        }
      },
      60_000,
    );
  test.each([
    ["quotes, newlines, $(), backticks, control and non-ASCII characters", NASTY],
    ["an option of sbatch", "--partition=nowhere"],
    ["100 KiB", "é'".repeat(34_133)],
  ])("an argument is data: %s", async (_, text) => {
    const id = await world.start("say", { text });
    const { outcome } = await world.outcome(id);
    expect(outcome).toMatchObject({ kind: "succeeded" });
    const { mark } = await world.record(id);
    const read = (name: string) => readFileSync(join(world.workdir, mark, name), "utf8");
    expect([read("work/argv"), read("work/env")]).toEqual([text, text]);
    expect(JSON.parse(read(".tailrace/params.json"))).toEqual({ text });
  });

  test("a module that is missing is told as what kept the job from its start", async () => {
    const { outcome, text } = await world.outcome(await world.start("module"));
    expect(outcome).toMatchObject({
      kind: "launch_failed",
      reason: expect.stringMatching(
        /^a module could not be loaded: openfoam\/11: .*module: command not found$/,
      ),
    });
    expect(text).toContain("Could not be launched");
  });

  test("a preamble that fails is told with what it said", async () => {
    const { outcome } = await world.outcome(await world.start("preamble"));
    expect(outcome).toMatchObject({ kind: "launch_failed", exitCode: 7 });
    expect(outcome["reason"]).toContain("/no/such/setup.sh: No such file or directory");
  });

  test.each([
    ["no_interpreter", "the script's interpreter /no/such/interpreter is missing"],
    ["dos", "the script's interpreter /bin/sh? is missing (the script has Windows line ends)"],
  ])("an interpreter that is missing is named: %s", async (tool, said) => {
    const { outcome, text } = await world.outcome(await world.start(tool));
    expect(outcome).toMatchObject({ kind: "failed", exitCode: 127 });
    expect(text).toContain(said);
  });

  test("an empty script is a script", async () => {
    const { outcome } = await world.outcome(await world.start("empty"));
    expect(outcome).toMatchObject({ kind: "succeeded" });
  });
});
