import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ACCOUNT_FORMAT,
  newestLives,
  parseAccount,
} from "../../../../adapters/schedulers/slurm/account-rows.ts";
import { parseQueue, QUEUE_FORMAT } from "../../../../adapters/schedulers/slurm/queue-rows.ts";
import { readState } from "../../../../adapters/schedulers/slurm/states.ts";

const US = "\x1f";

/** Anything but a word that could be a state. */
const JUNK = fc.string({ unit: "binary" }).filter((text) => !/^[A-Z]+$/.test(text));

/** As 22.05 prints it: raw wait status, `(null)`, nothing padded. */
const FAILED = queueLine({});

function queueLine(changes: Record<string, string>): string {
  const fields = {
    id: "7",
    name: "tr-main-abc",
    user: "alice",
    state: "FAILED",
    start: "1796077182",
    end: "1796077190",
    submit: "1796077180",
    cpus: "4",
    nodes: "c[1-2]",
    restarts: "1",
    exit: "768",
    requeue: "1",
    workdir: "/shared/jobs/x/work",
    comment: "(null)",
    reason: "NonZeroExitCode",
    ...changes,
  };
  return `${Object.values(fields)
    .map((field) => field + US)
    .join("")}\n`;
}

describe("squeue's rows", () => {
  test("the format asks for every field, each followed by U+001F", () => {
    expect(QUEUE_FORMAT.split(",").every((field) => field.endsWith(`:${US}`))).toBe(true);
    expect(QUEUE_FORMAT.startsWith(`JobID:${US},Name:${US},UserName:`)).toBe(true);
    expect(QUEUE_FORMAT.endsWith(`,WorkDir:${US},Comment:${US},Reason:${US}`)).toBe(true);
  });

  test("a row comes with numbers, times and nodes", () => {
    expect(parseQueue(FAILED)).toEqual({
      rows: [
        {
          id: "7",
          name: "tr-main-abc",
          user: "alice",
          state: "FAILED",
          reason: "NonZeroExitCode",
          comment: null,
          startMs: 1_796_077_182_000,
          endMs: 1_796_077_190_000,
          submitMs: 1_796_077_180_000,
          cpus: 4,
          nodes: ["c1", "c2"],
          requeues: 1,
          exit: { code: 3, signal: 0 },
          mayRequeue: true,
          workDir: "/shared/jobs/x/work",
        },
      ],
      problems: [],
    });
  });

  test.each([
    ["768", { code: 3, signal: 0 }],
    ["9", { code: 0, signal: 9 }],
    ["139", { code: 0, signal: 11 }],
    ["36608", { code: 143, signal: 0 }],
    ["0", { code: 0, signal: 0 }],
    ["3:0", { code: 3, signal: 0 }],
    ["0:53", { code: 0, signal: 53 }],
    ["4294967294", null],
    ["N/A", null],
    ["", null],
  ])("exit status %j", (exit, expected) => {
    expect(parseQueue(queueLine({ exit })).rows[0]?.exit).toEqual(expected);
  });

  test("what is not told is null, and blanks around a field are padding", () => {
    const waits = queueLine({
      id: "  8 ",
      state: "PENDING  ",
      start: "N/A",
      end: "N/A",
      nodes: "",
      cpus: "4K",
      requeue: "",
      workdir: "",
      comment: "  tailrace attempt 1 ",
      reason: "ReqNodeNotAvail, UnavailableNodes:c4",
    });
    expect(parseQueue(waits).rows[0]).toMatchObject({
      id: "8",
      state: "PENDING",
      startMs: null,
      endMs: null,
      nodes: [],
      cpus: 4096,
      mayRequeue: null,
      workDir: null,
      comment: "tailrace attempt 1",
      reason: "ReqNodeNotAvail, UnavailableNodes:c4",
    });
    expect(parseQueue(queueLine({ requeue: "0" })).rows[0]?.mayRequeue).toBe(false);
  });

  test("a reason may hold anything, the separator too", () => {
    const [row] = parseQueue(queueLine({ reason: `node | "on${US}fire" é` })).rows;
    expect(row).toMatchObject({ state: "FAILED", reason: `node | "on${US}fire" é` });
  });

  test.each([
    ["a cluster's banner", "CLUSTER: test\n"],
    ["a header", queueLine({ id: "JOBID", state: "STATE", start: "START_TIME" })],
    ["a message of the site", "slurm_load_jobs: Verbindung abgelehnt\n"],
    ["an array's rest", queueLine({ id: "63_[2-11%2]" })],
    ["times of another format", queueLine({ start: "2026-11-29T23:53:09" })],
    ["no count of restarts", queueLine({ restarts: "x" })],
    ["a state in other letters", queueLine({ state: "gescheitert" })],
    ["no name", queueLine({ name: "" })],
    ["a line without its end", FAILED.trimEnd()],
  ])("%s is a problem and no row", (_what, text) => {
    const { rows, problems } = parseQueue(text);
    expect(rows).toEqual([]);
    expect(problems).toHaveLength(1);
    expect(parseQueue(`${queueLine({ id: "9" })}${text}`).rows).toHaveLength(1);
  });

  test("a problem shows the line's beginning; blank lines are none", () => {
    expect(parseQueue(`\n  \n${"x".repeat(500)}\n`)).toEqual({
      rows: [],
      problems: [`this line is no job: "${"x".repeat(120)}"`],
    });
    expect(parseQueue("")).toEqual({ rows: [], problems: [] });
  });

  test("of a running job's line, cut anywhere or run into the next, nothing ended comes out", () => {
    const running = queueLine({ state: "RUNNING", reason: "None", comment: "FAILED" });
    const waiting = queueLine({ id: "8", state: "PENDING", reason: "COMPLETED" });
    for (let cut = 0; cut < running.length; cut += 1) {
      expect(parseQueue(running.slice(0, cut)).rows).toEqual([]);
      expect(ended(parseQueue(running.slice(0, cut) + waiting).rows)).toEqual([]);
      expect(ended(parseQueue(`${running.slice(cut)}${waiting}`).rows)).toEqual([]);
    }
  });

  test("no text makes it throw, and garbage in a running job's line never ends it", () => {
    const running = queueLine({ state: "RUNNING" });
    fc.assert(
      fc.property(JUNK, fc.nat(running.length), fc.nat(20), (junk, at, gone) => {
        expect(parseQueue(junk).rows).toEqual([]);
        expect(ended(parseQueue(running.slice(0, at) + junk + running.slice(at + gone)).rows)).toEqual([]);
      }),
    );
  });
});

function ended<Row extends { readonly state: string }>(rows: readonly Row[]): Row[] {
  return rows.filter(({ state }) => readState(state, "").kind === "ended");
}

function accountLine(changes: Record<string, string>): string {
  const fields = {
    id: "2",
    state: "FAILED",
    exit: "127:0",
    submit: "1796077199",
    start: "1796077200",
    end: "1796077202",
    cpus: "1",
    nodes: "c1",
    name: "tr-main-abc",
    user: "alice",
    ...changes,
  };
  return `${Object.values(fields).join(US)}\n`;
}

describe("accounting's rows", () => {
  test("the format holds only fields that every version has", () => {
    expect(ACCOUNT_FORMAT).toBe("JobIDRaw,State,ExitCode,Submit,Start,End,AllocCPUS,NodeList,JobName,User");
  });

  test("a row comes with numbers, times and nodes", () => {
    expect(parseAccount(accountLine({ state: "CANCELLED by 1001", exit: "0:0" }))).toEqual({
      rows: [
        {
          id: "2",
          name: "tr-main-abc",
          user: "alice",
          state: "CANCELLED by 1001",
          exit: { code: 0, signal: 0 },
          submitMs: 1_796_077_199_000,
          startMs: 1_796_077_200_000,
          endMs: 1_796_077_202_000,
          cpus: 1,
          nodes: ["c1"],
        },
      ],
      problems: [],
    });
  });

  test("a job that never started has no start and no nodes", () => {
    const line = accountLine({
      state: "CANCELLED by 0",
      start: "None",
      end: "Unknown",
      nodes: "None assigned",
    });
    expect(parseAccount(line).rows[0]).toMatchObject({ startMs: null, endMs: null, nodes: [] });
  });

  test.each([
    ["127:0", null, true],
    ["0:0", "24.11.5", true],
    ["127:0", "25.05.9", true],
    ["3:0", "25.11.0", undefined],
    ["3:0", "26.05.1", undefined],
    ["3:0", "unknown", true],
    ["255:0", null, undefined],
    ["0:9", null, undefined],
  ])("an exit code of %s by version %s is lossy: %s", (exit, version, lossy) => {
    expect(parseAccount(accountLine({ exit }), version).rows[0]?.exit?.lossy).toBe(lossy);
  });

  test("a new job's name to come is no row and no problem", () => {
    expect(parseAccount(accountLine({ name: "allocation" }))).toEqual({ rows: [], problems: [] });
  });

  test.each([
    ["a header", accountLine({ id: "JobIDRaw", state: "State", submit: "Submit" })],
    ["a step", accountLine({ id: "2.batch" })],
    ["a cut state", accountLine({ state: "CANCELLED+" })],
    ["too few fields", accountLine({}).replace(`${US}alice`, "")],
    ["a line without its end", accountLine({}).trimEnd()],
    ["an error", "sacct: error: Problem talking to the database: Connection refused\n"],
  ])("%s is a problem and no row", (_what, text) => {
    expect(parseAccount(text)).toMatchObject({ rows: [], problems: [expect.stringContaining("no job")] });
  });

  test("of a running job's line, cut anywhere or run into the next, nothing ended comes out", () => {
    const running = accountLine({ state: "RUNNING" });
    const waiting = accountLine({ id: "3", state: "PENDING" });
    for (let cut = 0; cut < running.length; cut += 1) {
      expect(parseAccount(running.slice(0, cut)).rows).toEqual([]);
      expect(ended(parseAccount(running.slice(0, cut) + waiting).rows)).toEqual([]);
    }
    fc.assert(
      fc.property(JUNK, fc.nat(running.length), fc.nat(20), (junk, at, gone) => {
        expect(parseAccount(junk).rows).toEqual([]);
        expect(ended(parseAccount(running.slice(0, at) + junk + running.slice(at + gone)).rows)).toEqual([]);
      }),
    );
  });

  test("the newest life of a job is that of the newest submit, and the lives before it are counted", () => {
    const { rows } = parseAccount(
      accountLine({ state: "RUNNING", submit: "1796077300" }) +
        accountLine({ state: "REQUEUED" }) +
        accountLine({ state: "NODE_FAIL", submit: "1796077250" }) +
        accountLine({ id: "3", name: "other" }),
    );
    const lives = newestLives(rows);
    expect(lives.get("2")).toMatchObject({ state: "RUNNING", requeues: 2 });
    expect(lives.get("3")).toMatchObject({ state: "FAILED", requeues: 0 });
    expect([...lives.keys()]).toEqual(["2", "3"]);
  });

  test("an id that was used before for a job of another name counts no lives of that one", () => {
    const { rows } = parseAccount(accountLine({ name: "old" }) + accountLine({ submit: "1796077300" }));
    expect(newestLives(rows).get("2")).toMatchObject({ name: "tr-main-abc", requeues: 0 });
  });
});
