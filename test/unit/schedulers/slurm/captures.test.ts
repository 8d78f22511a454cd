import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Look, looksOf } from "../../../support/slurm-captures.ts";
import { wordsOfLook } from "../../../support/slurm-words.ts";

const FILES = readdirSync(new URL("../../../fixtures/slurm/", import.meta.url))
  .filter((file) => file.endsWith(".txt"))
  .sort();

/** What the controller and accounting say of one and the same job at one moment; `only` in captures of that version. */
type Case = {
  readonly controller: string;
  readonly accounting: string;
  readonly "24.11"?: Omit<Case, "24.11">;
};

function both(words: string): Case {
  return { controller: words, accounting: words };
}

function waiting(reason: string, phase = "queued"): Case {
  return { controller: `${phase} (${reason})`, accounting: "queued" };
}

/** Accounting knows a cancel and a timeout without how the script took it, and takes 128 off exit codes. */
const CASES: Readonly<Record<string, Case>> = {
  "state-completed": both("exited 0"),
  "state-failed-exit3": { controller: "exited 3", accounting: "exited" },
  "state-failed-exit255": { controller: "exited 255", accounting: "exited" },
  "state-failed-childkill137": { controller: "exited 137", accounting: "exited" },
  "state-failed-bad-interpreter": { controller: "exited 2", accounting: "exited" },
  "state-scancel-batch-usr1": { controller: "exited 9", accounting: "exited" },
  "state-failed-segv": both("signalled signal 11"),
  "state-failed-sigkill": both("signalled signal 9"),
  "state-oom-overmemorykill": both("signalled signal 9"),
  "state-step-failed-batch-ok": both("exited 0"),
  "state-oom-step-cgroup": both("exited 0"),
  "state-failed-output-dir-missing": { ...both("launch_failed"), "24.11": both("exited 0") },
  "state-chdir-missing": both("launch_failed"),
  "state-cancelled-running-by-user": { controller: "cancelled signal 15", accounting: "cancelled" },
  "state-cancelled-running-by-root": { controller: "cancelled signal 15", accounting: "cancelled" },
  "state-scancel-signal-kill": { controller: "cancelled signal 15", accounting: "cancelled" },
  "state-cancelled-term-ignored": {
    controller: "cancelled signal 9",
    accounting: "cancelled",
    "24.11": both("cancelled"),
  },
  "state-cancelled-pending": both("cancelled"),
  "state-timeout": { controller: "timeout signal 15", accounting: "timeout" },
  "state-timeout-signal-trap": { controller: "timeout signal 9", accounting: "timeout" },
  // 24.11 let that job end in time.
  "state-deadline": { ...both("timeout"), "24.11": both("exited 0") },
  "state-oom-cgroup": both("out_of_memory"),
  "state-oom-exec-cgroup": both("out_of_memory"),
  "state-node-fail": both("node_fail"),
  "state-node-fail-slurmd-lost": both("node_fail"),
  // Its node never booted, which is no BOOT_FAIL.
  "state-boot-fail": both("node_fail"),
  "state-preempted-cancel": both("preempted"),
  // Right after the event accounting still has the life before.
  "state-preempted-requeue": {
    controller: "queued (BeginTime)",
    accounting: "preempted",
    "24.11": waiting("BeginTime"),
  },
  "state-preempted-requeue-2": waiting("BeginTime"),
  "state-node-fail-requeued": waiting("BeginTime"),
  "state-requeued-pending": waiting("BeginTime"),
  "state-requeuehold": waiting("job requeued in held state", "held"),
  "state-special-exit": waiting("SPECIAL EXIT", "held"),
  "state-running": both("running"),
  "state-scancel-signal-usr1": both("running"),
  "state-completing": { controller: "running (COMPLETING)", accounting: "cancelled" },
  "state-configuring": { controller: "queued (CONFIGURING)", accounting: "running" },
  "state-stopped": { controller: "suspended (STOPPED)", accounting: "running" },
  "state-suspended": both("suspended (SUSPENDED)"),
  "pending-all": waiting("Resources"),
  "pending-begin": waiting("BeginTime"),
  "pending-cfg": waiting("PartitionConfig"),
  "pending-deadline": waiting("Resources"),
  "pending-dep": waiting("Dependency"),
  "pending-sing": waiting("Dependency"),
  "pending-dns": waiting("DependencyNeverSatisfied"),
  "pending-dep-killed": both("cancelled"),
  "pending-down": waiting("PartitionDown"),
  "pending-ptl": waiting("PartitionTimeLimit"),
  "pending-rna": waiting("ReqNodeNotAvail"),
  "pending-lic": waiting("Licenses"),
  "pending-pri": waiting("Priority"),
  "pending-pri2": waiting("Priority"),
  "pending-hold": waiting("JobHeldUser", "held"),
  "pending-ha": waiting("JobHeldAdmin", "held"),
};

/**
 * Captures of several moments: what the controller says of each job in turn, in the order in which the jobs appear,
 * and after `//` what accounting says. Looks at array tasks and het components by their compound names are left out.
 */
const STORIES: Readonly<Record<string, string>> = {
  arrays: "queued held cancelled, running cancelled, running cancelled, running cancelled, cancelled",
  hetjob: "running cancelled, running cancelled",
  "hold-release": "held queued held",
  "22.05-acct-json-shapes":
    "cancelled, cancelled, cancelled, FAILED, cancelled, cancelled, running, running, running, FAILED exited 3, running, queued" +
    " // queued, running, running, running, running",
  "24.11-acct-json-shapes":
    "queued, running, running, running, running, FAILED exited 3 // running, running, queued, running, running",
  privatedata: "running",
  purged: "running",
  requeue: "queued, held, queued",
  "requeue-openmode": "queued, queued, queued",
  "sacct-lookup": "// COMPLETED",
  "sacct-lookup-2": "// COMPLETED",
  // In turn: the newest life while it waits, runs, and after its cancel; -D tells the life before as well.
  "sacct-requeue": "queued running // queued running queued cancelled queued cancelled",
  "scancel-other-user": "running",
  "signal-before-timeout": "timeout, timeout, timeout // timeout, timeout, timeout",
  "slurmdbd-down": "COMPLETED // COMPLETED",
  "22.05-acct-submit-limits": "queued, queued, running, running",
  "24.11-acct-submit-limits": "queued, queued, running, running, running, running, running",
  // The running one carries the reason JobHeldAdmin.
  suspend: "suspended running",
  unprivileged: "",
  "ctld-crash": "queued",
  "22.05-noacct-ctld-down": "running, FAILED exited 6",
  "24.11-acct-ctld-down": "FAILED exited 6, FAILED",
  "22.05-noacct-ctld-hang": "running, running, running, running",
  "24.11-acct-ctld-hang": "running, running, running",
  "key-carriers": "queued held",
  "22.05-noacct-output-patterns": "launch_failed",
  "24.11-acct-output-patterns": "exited 0",
  "22.05-acct-state-launch-failed-held": "held queued // queued",
  "22.05-acct-pending-all":
    "queued, queued, queued, queued, queued, queued, queued, queued, queued, queued, queued, held, held, queued",
  "22.05-noacct-pending-all":
    "queued, queued, queued, queued, queued, queued, queued, queued, queued, queued, queued, held, held, queued",
  "24.11-acct-pending-all":
    "queued, queued, queued, queued, queued, queued, queued, queued, queued, queued, held, held, queued",
};

/** A capture whose commands named no job, and so show the whole queue. */
const WHOLE_QUEUE = "24.11-acct-pending-cfg.txt";

const storyOf = (file: string) => {
  const name = file.replace(".txt", "");
  return STORIES[name] ?? STORIES[name.replace(/^[\d.]+-(?:no)?acct-/, "")];
};
const caseOf = (file: string) =>
  CASES[file.replace(/^[\d.]+-(?:no)?acct-/, "").replace(/(?:\.json)?\.txt$/, "")];

function allLooks(file: string): Look[] {
  return looksOf(file).flatMap(({ looks }) => looks);
}

/** What is left of an expectation for a view that tells no exit code. */
function withoutExit(words: string): string {
  if (words === "exited 0") return "COMPLETED";
  return /^(?:exited|signalled|launch_failed)/.test(words) ? "FAILED" : words.replace(/ signal \d+$/, "");
}

function expected(told: string, look: Look): string {
  const words = look.exit === null ? withoutExit(told) : told;
  return look.reason === null ? words.replace(/ \(.*/, "") : words;
}

describe("every capture of a job on a real cluster", () => {
  const cases = FILES.filter((file) => storyOf(file) === undefined && file !== WHOLE_QUEUE);

  test("is in a table of what it must come to", () => {
    expect(cases.filter((file) => caseOf(file) === undefined)).toEqual([]);
    expect(FILES.length).toBeGreaterThan(200);
  });

  test.each(cases)("%s: each view of the job comes to its phase or end", (file) => {
    const known = caseOf(file);
    const own = file.startsWith("24.11") ? (known?.["24.11"] ?? known) : known;
    const blocks = looksOf(file).filter(({ looks }) => looks.length > 0);
    expect(blocks.length).toBeGreaterThanOrEqual(/\.json/.test(file) ? 2 : 1);
    for (const { command, looks } of blocks) {
      const newest = looks.at(-1);
      // sacct -D tells every life, the newest last; squeue tells one job by %t and by %T.
      for (const look of newest?.view === "sacct" ? [newest] : looks) {
        const { controller = "", accounting = "" } = own ?? {};
        const isJson = command.includes("--json");
        // JSON of sacct has whole exit codes.
        const told = look.view !== "sacct" || (isJson && accounting === "exited") ? controller : accounting;
        const shown = (words: string) => `${command}: ${isJson ? words.replace(/ \(.*/, "") : words}`;
        expect(shown(wordsOfLook(look))).toBe(shown(expected(told, look)));
      }
    }
  });

  test.each(FILES.filter((file) => storyOf(file) !== undefined))("%s: told in the right order", (file) => {
    const told = [false, true].map((isAccounting) => {
      const jobs = new Map<string, string[]>();
      for (const look of allLooks(file)) {
        if ((look.view === "sacct") !== isAccounting || /[_+]/.test(look.id)) continue;
        const words = wordsOfLook(look).replace(/ \(.*/, "");
        const before = jobs.get(look.id) ?? [];
        jobs.set(look.id, before.at(-1) === words ? before : [...before, words]);
      }
      return [...jobs.values()].map((words) => words.join(" ")).join(", ");
    });
    expect(
      told
        .join(" // ")
        .replace(/ \/\/ $/, "")
        .trim(),
    ).toBe(storyOf(file));
  });

  test("the whole queue, by scontrol: what never got a node failed to launch, whatever its status", () => {
    const records = allLooks(WHOLE_QUEUE).filter(({ view }) => view === "scontrol");
    const words = new Map(records.map((look) => [look.id, wordsOfLook(look)]));
    for (const id of ["18", "19", "20", "21", "61"]) expect(words.get(id)).toBe("launch_failed");
    expect(words.get("48")).toBe("launch_failed");
    expect(words.get("42")).toBe("exited 3");
    expect(words.get("43")).toBe("signalled signal 11");
    expect(words.get("39")).toBe("timeout signal 15");
    expect(words.get("67")).toBe("cancelled");
    expect(words.get("58")).toBe("held (JobHeldUser)");
    expect(words.get("62")).toBe("queued (PartitionDown)");
    expect([...words.values()]).not.toContain("unknown");
    const ends = allLooks(WHOLE_QUEUE).map(wordsOfLook);
    expect(ends.length).toBeGreaterThan(300);
    expect(ends).not.toContain("unknown");
  });
});
