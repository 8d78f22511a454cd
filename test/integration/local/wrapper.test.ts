import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { argvSpec, scriptSpec } from "../../support/jobs.ts";
import { EACH_SHELL, type WrapperBench, wrapperBench } from "../../support/wrapper-bench.ts";

let bench: WrapperBench;
beforeEach(() => {
  bench = wrapperBench();
});
afterEach(() => bench.remove());

describe.each(EACH_SHELL)("under %s", (_, shell) => {
  test("a job's exit code, times and byte counts are in its exit record, and the wrapper exits alike", async () => {
    bench.prepare(scriptSpec("#!/bin/sh\nprintf abc; printf error >&2; exit 42\n"));
    expect(await bench.runToEnd(shell)).toBe(42);
    expect(bench.exitRecord()).toMatchObject({
      identity: "pod:7",
      attempt: 1,
      life: 0,
      started: true,
      exitCode: 42,
      signal: null,
      termAtMs: null,
      timedOut: false,
      stdoutBytes: 3,
      stderrBytes: 5,
    });
    expect(readFileSync(bench.own("stdout"), "utf8")).toBe("abc");
    expect(readFileSync(bench.own("stderr"), "utf8")).toBe("error");
    expect(readFileSync(bench.own("claim.1"), "utf8")).toBe("pod:7\n");
  });

  test("a job that a signal ended is told by the signal's number", async () => {
    bench.prepare(scriptSpec("#!/bin/sh\nkill -SEGV $$\n"));
    expect(await bench.runToEnd(shell)).toBe(139);
    expect(bench.exitRecord()).toMatchObject({ exitCode: 139, signal: 11, termAtMs: null });
  });

  test("the same job coming again is its next life, and its logs go on in the same files", async () => {
    bench.prepare(scriptSpec("#!/bin/sh\necho here\n"));
    await bench.runToEnd(shell);
    await bench.runToEnd(shell);
    expect(bench.exitRecord(0)).toMatchObject({ life: 0, stdoutBytes: 5 });
    expect(bench.exitRecord(1)).toMatchObject({ life: 1, stdoutBytes: 10 });
    expect(bench.lifeRecord(1)).toMatchObject({
      life: 1,
      identity: "pod:7",
    });
  });

  test("requeues are counted by the scheduler where it tells their number, and else by lives", async () => {
    bench.prepare(scriptSpec("#!/bin/sh\nexit 1\n"));
    await bench.runToEnd(shell);
    await bench.runToEnd(shell, { requeues: "-" });
    await bench.runToEnd(shell, { requeues: 5 });
    await bench.runToEnd(shell, { requeues: 0 });
    for (const [life, requeues] of [0, 1, 5, 0].entries()) {
      expect(bench.lifeRecord(life)).toMatchObject({
        life,
        requeues,
      });
      expect(bench.exitRecord(life)).toMatchObject({ life, requeues });
    }
  });

  test("another job finds the claim taken: it notes that and does not run the script", async () => {
    bench.prepare(scriptSpec("#!/bin/sh\necho here\n"));
    await bench.runToEnd(shell);
    expect(await bench.runToEnd(shell, { identity: "pod:8" })).toBe(76);
    expect(readFileSync(bench.own("stdout"), "utf8")).toBe("here\n");
    expect(readFileSync(bench.own("dup.pod:8"), "utf8")).toBe("pod:7\n");
    expect(existsSync(bench.own("exit.1.json"))).toBe(false);
  });

  test("of many jobs at once exactly one runs the script", async () => {
    bench.prepare(scriptSpec("#!/bin/sh\necho here\n"));
    const jobs = Array.from({ length: 8 }, (_unused, index) =>
      bench.runToEnd(shell, { identity: `pod:${index}` }),
    );
    const codes = await Promise.all(jobs);
    expect(codes.toSorted()).toEqual([0, 76, 76, 76, 76, 76, 76, 76]);
    expect(readFileSync(bench.own("stdout"), "utf8")).toBe("here\n");
  });

  test("each signal is passed on and noted with its time; TERM is the first stop", async () => {
    bench.prepare(
      scriptSpec(
        '#!/bin/sh\nfor s in TERM INT HUP USR1 USR2; do trap "echo $s" $s; done\necho up\nwhile :; do sleep 0.05; done\n',
      ),
    );
    const before = Date.now();
    const wrapper = bench.start(shell, { grace: 2 });
    const ended = once(wrapper, "exit");
    await eventually(() => expect(readFileSync(bench.own("stdout"), "utf8")).toBe("up\n"));
    for (const name of ["USR1", "USR2", "HUP", "INT", "TERM"] as const) {
      wrapper.kill(`SIG${name}`);
      await eventually(() => expect(readFileSync(bench.own("stdout"), "utf8")).toContain(`${name}\n`));
    }
    await ended;
    const record = bench.exitRecord();
    expect(record?.signals.map((one) => one.name)).toEqual(["USR1", "USR2", "HUP", "INT", "TERM"]);
    expect(record?.signal).toBe(9);
    expect(record?.termAtMs).toBe(record?.signals[4]?.atMs);
    expect(record?.termAtMs).toBeGreaterThanOrEqual(before - 20);
    expect(record?.termAtMs).toBeLessThanOrEqual(Date.now());
  });

  test("a script that stops on TERM keeps its own exit code, with the TERM noted", async () => {
    bench.prepare(scriptSpec("#!/bin/sh\ntrap 'exit 5' TERM\necho up\nwhile :; do sleep 0.05; done\n"));
    const wrapper = bench.start(shell, { grace: 20 });
    const ended = once(wrapper, "exit");
    await eventually(() => expect(readFileSync(bench.own("stdout"), "utf8")).toBe("up\n"));
    wrapper.kill("SIGTERM");
    await ended;
    expect(bench.exitRecord()).toMatchObject({
      exitCode: 5,
      signal: null,
      termAtMs: expect.any(Number),
      timedOut: false,
    });
  });

  test("at the walltime the job gets TERM and after the grace KILL, and no TERM of others is noted", async () => {
    bench.prepare(scriptSpec("#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 0.05; done\n"));
    expect(await bench.runToEnd(shell, { walltime: 1, grace: 1 })).toBe(137);
    expect(bench.exitRecord()).toMatchObject({ signal: 9, timedOut: true, termAtMs: null });
    expect(bench.leftovers()).toEqual([]);
  });

  test("a background child still writing when the script ends is waited for, and its bytes count", async () => {
    bench.prepare(scriptSpec("#!/bin/sh\n(sleep 0.5; echo late) &\necho soon\n"));
    await bench.runToEnd(shell);
    expect(readFileSync(bench.own("stdout"), "utf8")).toBe("soon\nlate\n");
    expect(bench.exitRecord()?.stdoutBytes).toBe(10);
  });

  test("children that left the session are gone when the exit record appears", async () => {
    bench.prepare(
      scriptSpec("#!/bin/sh\nsetsid sh -c 'setsid sleep 300 & sleep 300' >/dev/null 2>&1 &\nsleep 0.3\n"),
    );
    await bench.runToEnd(shell);
    expect(bench.exitRecord()?.exitCode).toBe(0);
    expect(bench.leftovers()).toEqual([]);
  });

  test("hostile strings reach the program byte for byte", async () => {
    const values = [
      "-rf",
      "a b'c\"d",
      "$(id) `id` $HOME",
      "line\nbreak\n",
      "\\n \\",
      "*",
      "",
      "ü☃",
      "x".repeat(100_000),
    ];
    const env = Object.fromEntries(values.map((value, index) => [`TAILRACE_ARG_V${index}`, value]));
    const print =
      'printf \'%s\\0\' "$@"; for i in 0 1 2 3 4 5 6 7 8; do eval "v=\\$TAILRACE_ARG_V$i"; printf \'%s\\0\' "$v"; done';
    bench.prepare(argvSpec(["sh", "-c", print, "sh", ...values], { env }));
    await bench.runToEnd(shell);
    expect(readFileSync(bench.own("stderr"), "utf8")).toBe("");
    expect(readFileSync(bench.own("stdout"), "utf8").split("\0")).toEqual([...values, ...values, ""]);
  });

  test("a full disk during the run does not lose the exit record", async () => {
    const mount = bench.root;
    mkdirSync(mount);
    expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=128k", "tmpfs", mount]).status).toBe(0);
    try {
      bench.prepare(scriptSpec("#!/bin/sh\ncat /dev/zero > fill 2>/dev/null\nexit 7\n"));
      expect(await bench.runToEnd(shell)).toBe(7);
      expect(bench.exitRecord()).toMatchObject({ exitCode: 7, started: true });
    } finally {
      spawnSync("umount", [mount]);
    }
  });

  test("on a disk that is full from the start nothing runs and no claim is taken", async () => {
    const mount = bench.root;
    mkdirSync(mount);
    expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", mount]).status).toBe(0);
    try {
      bench.prepare(scriptSpec("#!/bin/sh\necho here\n"));
      spawnSync("sh", ["-c", "cat /dev/zero > fill"], { cwd: mount });
      expect(await bench.runToEnd(shell)).toBe(73);
      expect(existsSync(bench.own("claim.1"))).toBe(false);
      expect(existsSync(bench.own("stdout"))).toBe(false);
    } finally {
      spawnSync("umount", [mount]);
    }
  });
});

test("a missing interpreter, a bare script, a missing program and Windows line ends say what they are", async () => {
  const shell = ["sh"];
  const cases = [
    ["#!/no/such/interpreter\n", 127, "the script's interpreter /no/such/interpreter is missing"],
    ["#!/bin/sh\r\necho x\r\n", 127, "Windows line ends"],
    ["#!/etc/passwd\n", 126, "may not be executed"],
  ] as const;
  for (const [text, code, message] of cases) {
    bench.prepare(scriptSpec(text));
    expect(await bench.runToEnd(shell)).toBe(code);
    expect(readFileSync(bench.own("stderr"), "utf8")).toContain(message);
    bench.remove();
  }
  bench.prepare(scriptSpec("echo no first line"));
  expect(await bench.runToEnd(shell)).toBe(0);
  expect(readFileSync(bench.own("stdout"), "utf8")).toBe("no first line\n");
  bench.remove();
  bench.prepare(argvSpec(["no-such-solver", "-x"]));
  expect(await bench.runToEnd(shell)).toBe(127);
  expect(readFileSync(bench.own("stderr"), "utf8")).toContain("no-such-solver");
});

test("INT and QUIT are not ignored in the job, as a shell's background would have it", async () => {
  bench.prepare(scriptSpec("#!/bin/sh\ngrep SigIgn /proc/self/status\n"));
  await bench.runToEnd(["sh"]);
  const mask = Number.parseInt(readFileSync(bench.own("stdout"), "utf8").split("\t")[1] ?? "", 16);
  expect(mask & 0b110).toBe(0);
});

test("a TERM that comes before the script keeps it from starting", async () => {
  bench.prepare(scriptSpec("#!/bin/sh\necho here\n"));
  // The wrapper stands still before its claim until the TERM is there.
  const path = bench.standIn("ln", 'kill -TERM $PPID\nexec /bin/ln "$@"');
  await bench.runToEnd(["sh"], { grace: 5, path });
  expect(bench.exitRecord()).toMatchObject({ started: false, exitCode: null, termAtMs: expect.any(Number) });
  expect(existsSync(bench.own("stdout"))).toBe(false);
});

test("a TERM while only what the script left behind still runs is no cause of its end", async () => {
  bench.prepare(scriptSpec("#!/bin/sh\ntrap '' TERM\nsleep 1 &\necho up\nexit 0\n"));
  const wrapper = bench.start(["sh"], { grace: 5 });
  const ended = once(wrapper, "exit");
  await eventually(() => {
    expect(readFileSync(bench.own("stdout"), "utf8")).toBe("up\n");
    const script = bench.lifeRecord(0)?.script;
    expect(existsSync(`/proc/${script?.pid ?? 0}`)).toBe(false);
  });
  wrapper.kill("SIGTERM");
  await ended;
  expect(bench.exitRecord()).toMatchObject({ exitCode: 0, termAtMs: null, signals: [{ name: "TERM" }] });
});

test("a wrapper with an unusable directory, identity or attempt says so and touches nothing", () => {
  bench.prepare(scriptSpec("echo here"));
  const root = bench.root;
  for (const words of [
    ["job", "1", "a"],
    [`${root}\n`, "1", "a"],
    [root, "x", "a"],
    [root, "1", "a/b"],
    [root, "1", ""],
    ...["x", "-1", "01", "1 2", "1234567890"].map((requeues) => [root, "1", "a", "0", "0", requeues]),
  ]) {
    const { status, stderr } = spawnSync("sh", [bench.own("wrapper"), ...words], { encoding: "utf8" });
    expect(status).toBe(64);
    expect(stderr).toMatch(/^tailrace: the /);
  }
  expect(existsSync(bench.own("claim.1"))).toBe(false);
});
