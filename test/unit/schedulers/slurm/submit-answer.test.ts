import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type CommandResult,
  readSubmit,
  readTestOnly,
} from "../../../../adapters/schedulers/slurm/submit-answer.ts";
import { capturedSubmits } from "../../../support/slurm-submits.ts";

const SUBMITS = capturedSubmits();

/** What each call of sbatch came to, in turn: a(ccepted) r(ejected) b(usy) u(nreachable) or ? for uncertain. */
const OUTCOMES: Readonly<Record<string, string>> = {
  "22.05-acct-submit-enforce-limits.txt": "r r r r r a r",
  "22.05-acct-submit-limits.txt": "a a b a a b r b r r r b a a ? a r",
  "22.05-acct-submit-no-assoc.txt": "r",
  // A job that is told in another form than --parsable, or not at all, is looked for by its name.
  "22.05-acct-submit-noise.txt": "a ? r r a ? a ?",
  "22.05-acct-submit-parsable.txt": "a ? a a a a a a r a a ? a",
  "22.05-acct-submit-queue-full.txt": "?",
  "22.05-acct-submit-rejected.txt": "r r r a a a r r a a r r r r r r r r a r a r r r r r r r a r r r u",
  "22.05-noacct-conf-missing.txt": "u",
  "22.05-noacct-ctld-down.txt": "u",
  "22.05-noacct-ctld-hang.txt": "? ?",
  "22.05-noacct-munge-down.txt": "u",
  "22.05-noacct-submit-parsable.txt": "a ? a a r r a a r a a ? a",
  "22.05-noacct-submit-rejected.txt": "r a a a a a r r a a r r r r r r r r a r a r r r r r r r a r r r u",
  "24.11-acct-conf-missing.txt": "u",
  "24.11-acct-ctld-down.txt": "u",
  "24.11-acct-ctld-hang.txt": "? ?",
  "24.11-acct-munge-down.txt": "u",
  "24.11-acct-submit-limits.txt": "a a b a a b r b r r r b a a ? a r",
  "24.11-acct-submit-no-assoc.txt": "r",
  "24.11-acct-submit-parsable.txt": "a ? a a a a a a r a a ? a",
  "24.11-acct-submit-rejected.txt": "r r r r r r r r a a r r r r r r r r r a a r r r r r r r a r r r u",
};

function outcomeOf({ command, result }: (typeof SUBMITS)[number]): string {
  if (command.includes("--test-only")) return readTestOnly(result)?.accepted === true ? "a" : "r";
  const { kind } = readSubmit(result, 1);
  return kind === "uncertain" ? "?" : kind.slice(0, 1);
}

function resultOf(changes: Partial<CommandResult>): CommandResult {
  return {
    exitCode: 1,
    stdout: "",
    stderr: "",
    timedOut: false,
    aborted: false,
    notStarted: null,
    ...changes,
  };
}

function failed(line: string): CommandResult {
  return resultOf({ stderr: `sbatch: error: Batch job submission failed: ${line}\n` });
}

describe("answers of sbatch on real clusters", () => {
  test.each(Object.entries(OUTCOMES))("%s", (file, outcomes) => {
    const submits = SUBMITS.filter((submit) => submit.file === file);
    expect(submits.map(outcomeOf).join(" ")).toBe(outcomes);
  });

  test("no capture is left out", () => {
    expect([...new Set(SUBMITS.map(({ file }) => file))].sort()).toEqual(Object.keys(OUTCOMES).sort());
  });

  test.each([
    ["-p nosuch", "the cluster has no such partition"],
    ["-A nosuch", "the account is unknown, not yours, or not for this partition"],
    ["-q nosuch", "the QOS is unknown, or your account may not use it"],
    ["--mem=1T", "no nodes of the partition fit the request"],
    ["-C nosuchfeature", "no node has the feature that its constraint names"],
    ["--gres=gpu:1", "the cluster has no such GPUs or other devices"],
    ["-L nolic:1", "the cluster has no such licences, or not as many"],
    ["--reservation=nope", "there is no such reservation, or it is not yours"],
    ["--nosuchoption", "this cluster's sbatch does not know one of the options"],
    ["-t nonsense", "one of the options has a value that sbatch does not take"],
    ["-q deny", "a limit of your account or QOS forbids a job of this size"],
    ["-J forbidden", "a rule of the site refuses the job"],
  ])("%s is refused in plain words, followed by all that Slurm said", (option, plain) => {
    const found = SUBMITS.filter(
      ({ file, command }) => file.startsWith("22.05-acct") && command.includes(option),
    );
    expect(found.length).toBeGreaterThan(0);
    for (const { result } of found) {
      const reading = readSubmit(result, 1);
      expect(reading).toEqual({
        kind: "rejected",
        reason: expect.stringContaining(`${plain}. Slurm says: `),
      });
      if (reading.kind !== "rejected") continue;
      for (const line of result.stderr.match(/(?<=^sbatch: error: ).+/gm) ?? [])
        expect(reading.reason).toContain(line);
      expect(reading.reason).not.toMatch(/sbatch: error|Try "sbatch/);
    }
  });
});

describe("the answer of a submission", () => {
  test.each([
    ["2\n", "2", null],
    ["75168975;clustername\n", "75168975", "clustername"],
    ["project proj has 12 hours left\n42\n", "42", null],
    ["42\nthanks for computing with us\n", "42", null],
    ["7\n42;alps-1.cscs\r\n", "42", "alps-1.cscs"],
  ])("the last line that is an id counts: %j", (stdout, id, cluster) => {
    expect(readSubmit(resultOf({ exitCode: 0, stdout }), 1)).toEqual({ kind: "accepted", id, cluster });
  });

  test.each([
    "",
    "Submitted batch job 5 on cluster nautilus\n",
    "0\n",
    "5;\n",
    "5 6\n",
    "-5\n",
    "job 5\n",
    "5",
  ])("exit code 0 without an id may have left a job: %j", (stdout) => {
    expect(readSubmit(resultOf({ exitCode: 0, stdout }), 1).kind).toBe("uncertain");
  });

  test("what was stopped, or told an id and failed, may have left a job", () => {
    for (const changes of [
      { exitCode: null, timedOut: true },
      { exitCode: null, aborted: true },
      { exitCode: null },
      { exitCode: null, timedOut: true, stdout: "5\n" },
      { exitCode: 1, stdout: "5\n", stderr: "sbatch: error: something\n" },
      { exitCode: 255, stderr: "ssh: connect to host login1 port 22: No route to host\n" },
      { exitCode: 1 },
    ])
      expect(readSubmit(resultOf(changes), 1).kind).toBe("uncertain");
  });

  test("what was never started sent nothing", () => {
    expect(readSubmit(resultOf({ exitCode: null, notStarted: "spawn sbatch ENOENT" }), null)).toEqual({
      kind: "unreachable",
      why: "sbatch could not be started: spawn sbatch ENOENT",
    });
    const change = resultOf({
      exitCode: 127,
      stderr: "setpriv: failed to execute sbatch: No such file or directory\n",
    });
    expect(readSubmit(change, 1).kind).toBe("unreachable");
  });

  test("a refused connection means that nothing was sent only where there is one controller", () => {
    const result = failed("Unable to contact slurm controller (connect failure)");
    expect(readSubmit(result, 1).kind).toBe("unreachable");
    for (const controllers of [null, 0, 2]) expect(readSubmit(result, controllers).kind).toBe("uncertain");
  });

  test.each([
    "Socket timed out on send/recv operation",
    "Zero Bytes were transmitted or received",
    "Unexpected message received",
    "Protocol authentication error",
    "Unable to contact slurm controller (receive failure)",
    "Transport endpoint is not connected",
    "Connection reset by peer",
    "Connection timed out",
    "Broken pipe",
  ])("an answer that was lost on the way leaves it open: %s", (line) => {
    expect(readSubmit(failed(line), 1).kind).toBe("uncertain");
  });

  test.each([
    "Resource temporarily unavailable",
    "Slurm temporarily unable to accept job",
    "Slurm backup controller in standby mode",
  ])("a temporary refusal is busy: %s", (line) => {
    expect(readSubmit(failed(line), 1).kind).toBe("busy");
  });

  test("words of the site's own do not turn a refusal into something else", () => {
    const note = "sbatch: error: Note: the connection to the archive timed out, unable to contact it\n";
    const result = resultOf({ stderr: `${note}${failed("Invalid partition name specified").stderr}` });
    expect(readSubmit(result, 2)).toMatchObject({
      kind: "rejected",
      reason: expect.stringMatching(/^the cluster has no such partition\. Slurm says: Note: the connection/),
    });
  });

  test("each line is told once, and waiting for the queue is not told", () => {
    const waits = "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying\n".repeat(3);
    const stderr = `${waits}sbatch: error: no\nsbatch: error: no\n${failed("Invalid qos specification").stderr}`;
    const reading = readSubmit(resultOf({ stderr: stderr.replace(waits, "") }), 1);
    expect(reading).toMatchObject({
      reason:
        "the QOS is unknown, or your account may not use it. Slurm says: no; Batch job submission failed: Invalid qos specification",
    });
    expect(readSubmit(resultOf({ stderr }), 1)).toEqual(reading);
  });

  test("nothing but an exit code of 0 and an id is accepted; nothing without a word of sbatch's is a refusal", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.integer({ min: 1, max: 255 }), (stdout, stderr, exitCode) => {
        expect(readSubmit(resultOf({ stdout, stderr, exitCode }), 1).kind).toMatch(
          /^(?:uncertain|busy|unreachable)$/,
        );
        expect(readSubmit(resultOf({ stdout: `${stdout}\n`, stderr, exitCode: null }), 1).kind).toBe(
          "uncertain",
        );
      }),
    );
  });
});

describe("the answer of a dry run", () => {
  test("tells when the job could start, by UTC or as seconds, and the site's notes", () => {
    const stderr = (time: string) =>
      `sbatch: Note: be kind\nsbatch: Job 9 to start at ${time} using 2 processors\n`;
    expect(readTestOnly(resultOf({ exitCode: 0, stderr: stderr("2026-11-29T23:52:49") }))).toEqual({
      accepted: true,
      startsAtMs: Date.UTC(2026, 10, 29, 23, 52, 49),
      reason: "Note: be kind",
    });
    expect(readTestOnly(resultOf({ exitCode: 0, stderr: stderr("1795996369") }))?.startsAtMs).toBe(
      1_795_996_369_000,
    );
    expect(readTestOnly(resultOf({ exitCode: 0, stderr: stderr("Unknown") }))).toMatchObject({
      accepted: true,
      startsAtMs: null,
    });
  });

  test("a refusal is told as a submission's is", () => {
    const result = resultOf({
      stderr: "allocation failure: Requested node configuration is not available\n",
    });
    expect(readTestOnly(result)).toEqual({
      accepted: false,
      startsAtMs: null,
      reason:
        "no nodes of the partition fit the request. Slurm says: Requested node configuration is not available",
    });
    expect(
      readTestOnly(resultOf({ exitCode: 255, stderr: "sbatch: error: Invalid --time specification\n" })),
    ).toMatchObject({ accepted: false });
  });

  test.each([
    resultOf({ stderr: "allocation failure: Unable to contact slurm controller (connect failure)\n" }),
    resultOf({ exitCode: null, timedOut: true }),
    resultOf({ exitCode: 0 }),
    resultOf({ exitCode: null, notStarted: "no such program" }),
  ])("no answer is none: %j", (result) => {
    expect(readTestOnly(result)).toBeNull();
  });
});
