import { describe, expect, test } from "vitest";
import { layoutAt } from "../../../../adapters/schedulers/shared/job-layout.ts";
import { batchScript, idOfIdentity } from "../../../../adapters/schedulers/slurm/batch-script.ts";
import {
  accountArguments,
  attemptOf,
  commentOf,
  queueArguments,
  resourceArguments,
  submitArguments,
} from "../../../../adapters/schedulers/slurm/commands.ts";
import { readOptions, SlurmOptions } from "../../../../adapters/schedulers/slurm/options.ts";
import { markOf, scriptSpec } from "../../../support/jobs.ts";

const MARK = markOf("test");
const LAYOUT = layoutAt("/shared/it's here/x");

function optionsOf(options: object) {
  return SlurmOptions.parse(options);
}

test("every setting becomes one argument behind its option's name, and what is not given is not named", () => {
  const spec = scriptSpec("exit 0", { walltimeSeconds: 61 });
  expect(resourceArguments({ spec, options: optionsOf({}) })).toEqual([
    "--time=2",
    "--ntasks=1",
    "--cpus-per-task=1",
    "--mail-type=NONE",
  ]);
  const rich = { ...spec, resources: { cpus: 2, memoryMib: 4096, walltimeSeconds: 3600, gpus: 1 } };
  const options = optionsOf({
    partition: "batch",
    account: "cfd",
    qos: "long",
    constraint: "avx512",
    reservation: "maint",
    licenses: "lic:1",
    nodes: "2-4",
    tasks: 8,
    tasksPerNode: 4,
    nice: -5,
    exclusive: true,
    requeue: false,
    mail: { user: "a@b" },
    extra: ["--switches=1", "--signal=B:USR1@300"],
  });
  expect(resourceArguments({ spec: rich, options })).toEqual([
    "--time=60",
    "--ntasks=8",
    "--cpus-per-task=2",
    "--mem=4096M",
    "--gres=gpu:1",
    "--partition=batch",
    "--account=cfd",
    "--qos=long",
    "--constraint=avx512",
    "--reservation=maint",
    "--licenses=lic:1",
    "--nodes=2-4",
    "--ntasks-per-node=4",
    "--nice=-5",
    "--mail-type=END,FAIL",
    "--mail-user=a@b",
    "--exclusive",
    "--no-requeue",
    "--switches=1",
    "--signal=B:USR1@300",
  ]);
});

test("sbatch is given the mark as name and comment, our own paths, and nothing of the caller's", () => {
  const spec = scriptSpec("exit 0", { args: { secret: "hush" }, env: { TAILRACE_ARG_SECRET: "hush" } });
  const request = { spec, options: optionsOf({}), mark: MARK, attempt: 3, layout: LAYOUT };
  const args = submitArguments(request);
  expect(args.slice(0, 7)).toEqual([
    "--parsable",
    `--job-name=${MARK}`,
    `--comment=${MARK} attempt 3`,
    "--chdir=/shared/it's here/x/work",
    "--output=/shared/it's here/x/.tailrace/slurm.out",
    "--open-mode=append",
    "--export=NONE",
  ]);
  expect(args.join("\n")).not.toContain("hush");
  expect(batchScript(LAYOUT, 3, optionsOf({}))).not.toContain("hush");
});

test("a comment is read back only as one of this mark", () => {
  expect(attemptOf(commentOf(MARK, 12), MARK)).toBe(12);
  expect(attemptOf(commentOf(markOf("test"), 12), MARK)).toBeNull();
  expect(attemptOf(`${MARK} attempt 0`, MARK)).toBeNull();
  expect(attemptOf(`${MARK} attempt 1; rm`, MARK)).toBeNull();
  expect(attemptOf(null, MARK)).toBeNull();
});

describe("the queue is asked", () => {
  test("for one id twice, since a single unknown one would be an error", () => {
    expect(queueArguments(["7"], ["me"])).toContain("--jobs=7,7");
  });
  test("for up to 100 ids by their list, and for more by our users alone", () => {
    const ids = Array.from({ length: 101 }, (_, index) => `${index + 1}`);
    expect(queueArguments(ids.slice(1), ["me"]).join(" ")).toContain("--jobs=2,3,");
    const many = queueArguments(ids, ["me", "alice"]);
    expect(many).toContain("--user=me,alice");
    expect(many.join(" ")).not.toContain("--jobs");
  });
});

test("accounting is asked for all lives, from a time of this job's", () => {
  const args = accountArguments({ ids: ["1", "2"] }, Date.UTC(2026, 10, 30, 22));
  expect(args).toContain("--duplicates");
  expect(args).toContain("--jobs=1,2");
  expect(args).toContain("--starttime=2026-11-30T22:00:00");
});

test("the batch script becomes the wrapper, whatever the path holds; modules load in a login shell before it", () => {
  expect(batchScript(LAYOUT, 1, optionsOf({}))).toBe(
    [
      "#!/bin/sh",
      "unset SLURM_EXPORT_ENV",
      "umask 077",
      `exec sh '/shared/it'\\''s here/x/.tailrace/wrapper' '/shared/it'\\''s here/x' 1 "slurm:$SLURM_JOB_ID" 0 0 "\${SLURM_RESTART_COUNT:-0}"`,
      "",
    ].join("\n"),
  );
  const lines = batchScript(
    LAYOUT,
    1,
    optionsOf({ modules: ["a/1", "b"], preamble: ["ulimit -s unlimited"] }),
  ).split("\n");
  expect(lines[0]).toBe("#!/bin/bash -l");
  expect(lines.indexOf("module load 'a/1' 'b' || {")).toBeGreaterThan(0);
  expect(lines.indexOf("ulimit -s unlimited")).toBeGreaterThan(lines.indexOf("}"));
});

test("only a batch job's identity names one", () => {
  expect(idOfIdentity("slurm:42")).toBe("42");
  for (const other of ["slurm:", "slurm:0", "slurm:4 2", "local:42:1:x", "seized:1", "slurm:42;x"])
    expect(idOfIdentity(other)).toBeNull();
});

test.each([
  [{ extra: ["--parsable"] }, /options.extra.0: --parsable is set by Tailrace/],
  [{ extra: ["--pars"] }, /is set by Tailrace/],
  [{ extra: ["--job-name=x"] }, /is set by Tailrace/],
  [{ extra: ["-J x"] }, /one long option/],
  [{ extra: ["rm -rf"] }, /one long option/],
  [{ partition: "a\nb" }, /options.partition: must not hold control characters/],
  [{ modules: ["a; rm"] }, /options.modules.0: must be a module's name/],
  [{ preamble: ["a\nb"] }, /options.preamble.0: must be one line/],
  [{ partion: "x" }, /partion/],
  [{ nodes: "many" }, /options.nodes/],
])("%j is refused with the place and the reason", (options, reason) => {
  expect(readOptions(scriptSpec("exit 0", { options })).problem).toMatch(reason);
});
