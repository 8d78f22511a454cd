import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { look, submitted } from "../contract/scheduler-harness.ts";
import { eventually } from "../support/eventually.ts";
import { markOf, NEVER, scriptSpec } from "../support/jobs.ts";
import { openSlurm, SLURM_INSTANCE, slurmDirectory } from "../support/slurm/harness.ts";

const directory = slurmDirectory();
const { workdir } = directory;
const adapter = openSlurm(workdir);
afterAll(async () => {
  await adapter.close();
  directory.remove();
});

const PATIENCE_MS = 30_000;
const SECRET = "root:this must not be told";
writeFileSync(join(directory.path, "secret"), `${SECRET}\n`);

/** What a job does to its own `.tailrace`. */
const DEEDS = {
  "a claim that is a directory": "rm claim.1; mkdir claim.1",
  "a claim that is a FIFO": "rm claim.1; mkfifo claim.1",
  "a claim that is a link to a secret": `rm claim.1; ln -s ${directory.path}/secret claim.1`,
  "a claim that is a link to itself": "rm claim.1; ln -s claim.1 claim.1",
  "a claim without an end": "rm claim.1; ln -s /dev/zero claim.1",
  "a life that is a FIFO": "mkfifo life.1.json",
  "an end that will be written into a directory": "rm exit.0.json; mkdir exit.0.json",
  "an attempt that cannot be read": "echo { >attempt.1",
} as const;

describe("a job that leaves", () => {
  test.concurrent.each(Object.entries(DEEDS))(
    "%s ends as Slurm says, and nothing of it is told",
    async (_, deed) => {
      const body = `cd ../.tailrace\n${deed}\necho done\nexit 4\n`;
      const spec = { ...scriptSpec(body), options: { requeue: false } };
      const job = await submitted(adapter, { mark: markOf(SLURM_INSTANCE), attempt: 1, spec });
      await eventually(async () => {
        const seen = await look(adapter, job);
        expect(JSON.stringify(seen)).not.toContain("must not be told");
        expect(seen).toMatchObject({ kind: "ended", end: { kind: "exited", exitCode: 4, started: true } });
      }, PATIENCE_MS);
      const request = { job, source: "stdout", cursor: null, maxBytes: 1000 } as const;
      const [chunk] = await adapter.readLogs([request], NEVER);
      expect(Buffer.from(chunk?.bytes ?? []).toString()).toBe("done\n");
    },
    PATIENCE_MS,
  );
});

test("a job whose directory cannot be read at all keeps no other job from its end or its stop", async () => {
  const start = (text: string) =>
    submitted(adapter, {
      mark: markOf(SLURM_INSTANCE),
      attempt: 1,
      spec: { ...scriptSpec(text), options: { requeue: false } },
    });
  const barred = await start("cd ../ && rm -r .tailrace && ln -s .tailrace .tailrace\nexit 4\n");
  const [good, long] = [await start("exit 5\n"), await start("exec sleep 300\n")];
  const jobs = [barred, good, long];
  await eventually(async () => {
    const seen = await adapter.observe(jobs, NEVER);
    expect(seen.get(barred.id)).toMatchObject({
      kind: "unknown",
      why: expect.stringContaining("ELOOP"),
      gone: false,
    });
    expect(seen.get(good.id)).toMatchObject({ kind: "ended", end: { exitCode: 5 } });
    expect(seen.get(long.id)).toMatchObject({ kind: "running" });
  }, PATIENCE_MS);
  const answers = await Promise.all([barred, long].map((job) => adapter.cancel(job, NEVER)));
  expect(answers).toEqual(["not_found", "asked"]);
  await eventually(async () => {
    expect((await adapter.observe(jobs, NEVER)).get(long.id)).toMatchObject({ kind: "ended" });
  }, PATIENCE_MS);
}, 60_000);
