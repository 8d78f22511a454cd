import { describe, expect, test } from "vitest";
import { type JobRef, LogCursor, type LogSource } from "../../src/domain/adapter.ts";
import { BridgeError } from "../../src/domain/errors.ts";
import { eventually } from "../support/eventually.ts";
import { argvSpec, NEVER, scriptSpec } from "../support/jobs.ts";
import { submitted, until } from "./scheduler-harness.ts";
import type { SuiteContext } from "./scheduler-suite.ts";

/** A9 to A13, and what the contract says beside its numbered promises. */
export function testFilesAndData(context: SuiteContext): void {
  const { harness, adapter, fresh } = context;
  const patience = () => harness().patienceMs;

  describe("A9", () => {
    test("A9 chunks joined equal the log, whatever their size and whoever reads on", async () => {
      const body = 'i=0\nwhile [ $i -lt 400 ]; do echo "line $i grüße ☃"; i=$((i + 1)); done\nprintf end >&2';
      const job = await submitted(adapter(), { mark: fresh(), attempt: 1, spec: scriptSpec(body) });
      const text = await readOn(context, job, "stdout", 777);
      const lines = Array.from({ length: 400 }, (_, index) => `line ${index} grüße ☃\n`);
      expect(text).toBe(lines.join(""));
      expect(await readOn(context, job, "stderr", 1)).toBe("end");
    });

    test("A9 what a job says through its messages file is a source of its own", async () => {
      const body = 'echo \'{"type":"progress"}\' >> "$TAILRACE_MESSAGES"\necho out';
      const job = await submitted(adapter(), { mark: fresh(), attempt: 1, spec: scriptSpec(body) });
      expect(await readOn(context, job, "messages", 1000)).toBe('{"type":"progress"}\n');
    });

    test("A9 one call answers many requests in order, also for logs that are not there", async () => {
      const job = await submitted(adapter(), {
        mark: fresh(),
        attempt: 1,
        spec: scriptSpec("printf a; printf b >&2"),
      });
      await until(adapter(), job, "ended", patience());
      const missing = harness().absent(fresh());
      const request = { cursor: null, maxBytes: 10 };
      const chunks = await adapter().readLogs(
        [
          { ...request, job, source: "stderr" },
          { ...request, job: missing, source: "stdout" },
          { ...request, job, source: "stdout" },
        ],
        NEVER,
      );
      expect(chunks.map((chunk) => Buffer.from(chunk.bytes).toString())).toEqual(["b", "", "a"]);
      expect(chunks[1]).toMatchObject({ cursor: null, atEnd: true });
    });
  });

  test("A10 an abort returns within a second and leaves no child", async () => {
    const mark = fresh();
    const job = harness().absent(mark);
    const calls: ((signal: AbortSignal) => Promise<unknown>)[] = [
      (signal) => adapter().submit({ mark, attempt: 1, spec: scriptSpec("exit 0") }, signal),
      (signal) => adapter().locate([mark], signal),
      (signal) => adapter().observe([job], signal),
      (signal) => adapter().cancel(job, signal),
      (signal) => adapter().estimate(scriptSpec("exit 0"), signal),
      (signal) => adapter().check(signal),
    ];
    for (const call of calls) {
      const begun = performance.now();
      await expect(call(AbortSignal.abort(new Error("enough")))).rejects.toThrow();
      const later = new AbortController();
      const answer = call(later.signal).catch(() => "stopped");
      later.abort(new Error("enough"));
      await answer;
      expect(performance.now() - begun).toBeLessThan(1000);
    }
    // The submit that was stopped midway may have been accepted: then it is found, and runs to its end as any other.
    const found = (await adapter().locate([mark], NEVER)).get(mark);
    if (found != null) await until(adapter(), found, "ended", patience());
    expect(await harness().leftovers(mark)).toEqual([]);
  });

  test("A11 quotes, newlines, $() and leading dashes reach the job as data", async () => {
    const values = [
      "--help",
      "-",
      "a'b\"c",
      "$(touch /tmp/x)`id`",
      "two\nlines\n",
      "\\",
      "%s%n",
      "*",
      "",
      "ü",
      "y".repeat(100_000),
    ];
    const env = Object.fromEntries(values.map((value, index) => [`TAILRACE_ARG_${index}`, value]));
    const print =
      'printf "%s\\0" "$@"; i=0; while [ $i -lt 11 ]; do eval "printf \'%s\\\\0\' \\"\\$TAILRACE_ARG_$i\\""; i=$((i+1)); done';
    const spec = argvSpec(["sh", "-c", print, "sh", ...values], { env, args: { text: values.join("\n") } });
    const job = await submitted(adapter(), { mark: fresh(), attempt: 1, spec });
    expect(await readOn(context, job, "stderr", 10_000)).toBe("");
    expect((await readOn(context, job, "stdout", 1 << 20)).split("\0")).toEqual([...values, ...values, ""]);
  });

  test("A12 what is not ours is not touched, however much its reference looks like ours", async () => {
    const { refs, isUnharmed, stop } = await harness().foreign();
    for (const ref of refs) {
      await adapter()
        .cancel(ref, NEVER)
        .catch(() => "refused");
      await adapter().observe([ref], NEVER);
      await adapter()
        .cancel(ref, NEVER)
        .catch(() => "refused");
    }
    await expect(adapter().seize("tr-other-aaaaaaaaaaaaaaaaaaaaaaaaaa", 1, NEVER)).rejects.toThrow(
      /instance/,
    );
    await expect(adapter().locate(["../outside"], NEVER)).rejects.toThrow(/instance/);
    const spec = scriptSpec("exit 0");
    await expect(adapter().submit({ mark: "../outside", attempt: 1, spec }, NEVER)).rejects.toThrow(
      /instance/,
    );
    expect(await isUnharmed()).toBe(true);
    await stop();
  });

  test("A13 close twice leaves nothing open, ends no job, and later calls are refused", async () => {
    const other = harness().open();
    const job = await submitted(other, { mark: fresh(), attempt: 1, spec: scriptSpec("sleep 0.5; exit 6") });
    await Promise.all([other.close(), other.close()]);
    await other.close();
    await expect(other.observe([job], NEVER)).rejects.toThrow(BridgeError);
    expect((await until(adapter(), job, "ended", patience())).end.exitCode).toBe(6);
  });

  test("an answer reaches a waiting job whole, and again changes nothing", async () => {
    const body =
      'f="$TAILRACE_TASK_DIR/.tailrace/input/choice.json"\nwhile [ ! -e "$f" ]; do sleep 0.05; done\ncat "$f"';
    const job = await submitted(adapter(), { mark: fresh(), attempt: 1, spec: scriptSpec(body) });
    await until(adapter(), job, "running", patience());
    await adapter().deliver(job, "choice", { go: "on", text: "a'b\n" }, NEVER);
    await adapter().deliver(job, "choice", { go: "on", text: "a'b\n" }, NEVER);
    await adapter().deliver(job, "../../evil", 1, NEVER);
    await until(adapter(), job, "ended", patience());
    expect(JSON.parse(await readOn(context, job, "stdout", 1000))).toEqual({ go: "on", text: "a'b\n" });
  });

  test("what the job left is listed with size, hash and media type, and its result is read", async () => {
    const body =
      "mkdir d; printf abc > d/x.csv; ln -s /etc/passwd d/link; echo '{\"drag\":1.5}' > result.json";
    const spec = scriptSpec(body, { args: { n: 1 } });
    const job = await submitted(adapter(), { mark: fresh(), attempt: 1, spec });
    await until(adapter(), job, "ended", patience());
    const limits = { maxFiles: 10, maxBytes: 1000, maxResultBytes: 1000 };
    const collected = await adapter().collect(job, { outputs: ["d/**"], ...limits }, NEVER);
    expect(collected).toEqual({
      artifacts: [
        {
          name: "d/x.csv",
          mediaType: "text/csv",
          bytes: 3,
          sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        },
      ],
      skipped: [{ name: "d/link", reason: expect.stringContaining("link") }],
      result: { drag: 1.5 },
      resultProblem: null,
    });
  });

  test("estimate tells whether it could start now, and check looks at the target", async () => {
    expect(await adapter().estimate(scriptSpec("exit 0"), NEVER)).toMatchObject({ accepted: true });
    const lines = await adapter().check(NEVER);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line.ok ? null : line.advice).not.toBe("");
  });
}

/** Reads a log to its end, each chunk with a new adapter and a cursor that went through JSON. */
async function readOn(
  { harness }: SuiteContext,
  job: JobRef,
  source: LogSource,
  maxBytes: number,
): Promise<string> {
  const first = harness().open();
  await until(first, job, "ended", harness().patienceMs);
  await first.close();
  const parts: Uint8Array[] = [];
  let cursor: LogCursor | null = null;
  return eventually(async () => {
    for (;;) {
      const reader = harness().open();
      const [chunk] = await reader.readLogs([{ job, source, cursor, maxBytes }], NEVER);
      await reader.close();
      if (chunk === undefined) throw new Error("no chunk");
      parts.push(chunk.bytes);
      cursor = chunk.cursor === null ? null : LogCursor.parse(JSON.parse(JSON.stringify(chunk.cursor)));
      if (!chunk.atEnd) continue;
      expect(cursor?.total ?? 0).toBe(Buffer.concat(parts).length);
      return Buffer.concat(parts).toString("utf8");
    }
  }, harness().patienceMs);
}
