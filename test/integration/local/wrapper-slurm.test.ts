import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { closeFor } from "../../../adapters/schedulers/shared/job-access.ts";
import { layoutAt } from "../../../adapters/schedulers/shared/job-layout.ts";
import { eventually } from "../../support/eventually.ts";
import { scriptSpec } from "../../support/jobs.ts";
import {
  EACH_SHELL,
  type WrapperBench,
  type WrapperSettings,
  wrapperBench,
} from "../../support/wrapper-bench.ts";

/** Slurm signals every process of a job itself, and brings its own walltime. */
const SLURM: WrapperSettings = { identity: "slurm:7", requeues: 0 };

let bench: WrapperBench;
beforeEach(() => {
  bench = wrapperBench();
});
afterEach(() => bench.remove());

const stdout = () => readFileSync(bench.own("stdout"), "utf8");
const isUp = () => eventually(() => expect(stdout()).toBe("up\n"));

async function scriptPid(): Promise<number> {
  return eventually(() => {
    const pid = bench.lifeRecord()?.script?.pid;
    if (pid === undefined) throw new Error("the script has not been noted yet");
    return pid;
  });
}

/** Stops the wrapper while the script gets the TERM and ends of it, as when the kernel serves the script first. */
async function termBoth(wrapper: ChildProcess): Promise<void> {
  const pid = await scriptPid();
  const isIn = (state: string, of: number | undefined) =>
    eventually(() => expect(readFileSync(`/proc/${of}/stat`, "utf8")).toContain(`) ${state} `));
  wrapper.kill("SIGSTOP");
  await isIn("T", wrapper.pid);
  process.kill(pid, "SIGTERM");
  await isIn("Z", pid);
  wrapper.kill("SIGTERM");
  wrapper.kill("SIGCONT");
}

describe.each(EACH_SHELL)("for Slurm, under %s", (_, shell) => {
  test("TERM is noted and not passed on, nor is CONT; every other signal is", async () => {
    const traps = 'for s in TERM CONT USR1 USR2 INT; do trap "echo $s" $s; done';
    const script = `#!/bin/sh\n${traps}\necho up\nuntil [ -e go ]; do sleep 0.05; done\nexit 5\n`;
    bench.prepare(scriptSpec(script));
    const wrapper = bench.start(shell, SLURM);
    const ended = once(wrapper, "exit");
    await isUp();
    await scriptPid();
    for (const name of ["USR1", "USR2", "INT"] as const) {
      wrapper.kill(`SIG${name}`);
      await eventually(() => expect(stdout()).toContain(`${name}\n`));
    }
    wrapper.kill("SIGTERM");
    writeFileSync(`${bench.root}/work/go`, "");
    expect((await ended)[0]).toBe(5);
    expect(stdout()).toBe("up\nUSR1\nUSR2\nINT\n");
    const record = bench.exitRecord();
    expect(record?.signals.map((one) => one.name)).toEqual(["USR1", "USR2", "INT", "TERM"]);
    expect(record).toMatchObject({ exitCode: 5, termAtMs: record?.signals[3]?.atMs, timedOut: false });
  });

  test("neither walltime nor grace is the wrapper's, whatever it was told", async () => {
    bench.prepare(scriptSpec("#!/bin/sh\ntrap '' TERM\necho up\nsleep 1.5\nexit 3\n"));
    const wrapper = bench.start(shell, { ...SLURM, walltime: 1, grace: 0.2 });
    const ended = once(wrapper, "exit");
    await isUp();
    wrapper.kill("SIGTERM");
    expect((await ended)[0]).toBe(3);
    expect(bench.exitRecord()).toMatchObject({ exitCode: 3, signal: null, timedOut: false });
  });

  test.each([
    ["dies of it", "", { exitCode: 143, signal: 15 }],
    ["stops on it", "trap 'exit 5' TERM\n", { exitCode: 5, signal: null }],
  ])(
    "a TERM that reaches wrapper and script at once is the cause when the script %s",
    async (__, trap, end) => {
      bench.prepare(scriptSpec(`#!/bin/sh\n${trap}echo up\nwhile :; do sleep 0.05; done\n`));
      const wrapper = bench.start(shell, SLURM);
      const ended = once(wrapper, "exit");
      await isUp();
      await termBoth(wrapper);
      await ended;
      expect(bench.exitRecord()).toMatchObject({ ...end, started: true, termAtMs: expect.any(Number) });
    },
  );

  test.each([
    ["before its claim", "ln", "/bin/ln"],
    ["in the last moment before the script", "env", "/usr/bin/env"],
  ])("a TERM %s keeps the script from starting", async (__, name, real) => {
    bench.prepare(scriptSpec("#!/bin/sh\necho here\n"));
    const path = bench.standIn(name, `kill -TERM $PPID\nexec ${real} "$@"`);
    await bench.runToEnd(shell, { ...SLURM, path });
    expect(bench.exitRecord()).toMatchObject({
      started: false,
      exitCode: null,
      termAtMs: expect.any(Number),
    });
    expect(existsSync(bench.own("stdout"))).toBe(false);
  });

  test("a TERM for every process while the end is written down takes nothing from the record", async () => {
    bench.prepare(scriptSpec("#!/bin/sh\necho out\ntouch over\nexit 3\n"));
    const over = `${bench.root}/work/over`;
    const kill = `[ ! -e '${over}' ] || kill -TERM 0`;
    const path = bench.standIn("wc", `${kill}\nexec /usr/bin/wc "$@"`);
    bench.standIn("date", `${kill}\nexec /bin/date "$@"`);
    bench.standIn("mv", `${kill}\nexec /bin/mv "$@"`);
    expect(await bench.runToEnd(shell, { ...SLURM, path })).toBe(3);
    expect(bench.exitRecord()).toMatchObject({ exitCode: 3, termAtMs: null, stdoutBytes: 4 });
  });

  test("a life record tells where its life begins in each log", async () => {
    const body = 'printf abc; printf de >&2; echo \'{"a":1}\' >> "$TAILRACE_MESSAGES"';
    bench.prepare(scriptSpec(`#!/bin/sh\n${body}\n`));
    for (const requeues of [0, 1, 2]) await bench.runToEnd(shell, { ...SLURM, requeues });
    expect([0, 1, 2].map((life) => bench.lifeRecord(life)?.from)).toEqual([
      { stdout: 0, stderr: 0, messages: 0 },
      { stdout: 3, stderr: 2, messages: 8 },
      { stdout: 6, stderr: 4, messages: 16 },
    ]);
    expect(bench.exitRecord(2)).toMatchObject({ life: 2, requeues: 2, stdoutBytes: 9 });
  });

  test("a life that goes on although the next has begun ends without touching that", async () => {
    const body = 'echo "$SLURM_RESTART_COUNT"\nuntil [ -e "go.$SLURM_RESTART_COUNT" ]; do sleep 0.05; done';
    bench.prepare(scriptSpec(`#!/bin/sh\n${body}\nexit "$SLURM_RESTART_COUNT"\n`));
    const begin = async (requeues: number, said: string) => {
      const counted = ["env", `SLURM_RESTART_COUNT=${requeues}`, ...shell];
      const wrapper = bench.start(counted, { ...SLURM, requeues });
      const ended = once(wrapper, "exit");
      await eventually(() => expect(stdout()).toBe(said));
      return { ended };
    };
    const first = await begin(3, "3\n");
    const second = await begin(4, "3\n4\n");
    writeFileSync(`${bench.root}/work/go.3`, "");
    expect((await first.ended)[0]).toBe(3);
    writeFileSync(`${bench.root}/work/go.4`, "");
    expect((await second.ended)[0]).toBe(4);
    expect(bench.exitRecord(0)).toMatchObject({ requeues: 3, exitCode: 3 });
    expect(bench.exitRecord(1)).toMatchObject({ requeues: 4, exitCode: 4, signal: null });
  });

  test("a life of a job whose task has ended begins nothing, and says why", async () => {
    bench.prepare(scriptSpec("#!/bin/sh\necho out\n"));
    expect(await bench.runToEnd(shell, SLURM)).toBe(0);
    await closeFor(layoutAt(bench.root));
    await closeFor(layoutAt(bench.root));
    const before = readdirSync(bench.own("."));
    expect(await bench.runToEnd(shell, { ...SLURM, requeues: 1 })).toBe(76);
    expect(readdirSync(bench.own("."))).toEqual(before);
    expect(stdout()).toBe("out\n");
  });
});
