import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { REASONS, tellReason } from "../../../../adapters/schedulers/slurm/reasons.ts";
import { ENDED_WORDS, readState } from "../../../../adapters/schedulers/slurm/states.ts";

const FINAL = [
  ["COMPLETED", "CD"],
  ["CANCELLED", "CA"],
  ["FAILED", "F"],
  ["TIMEOUT", "TO"],
  ["NODE_FAIL", "NF"],
  ["PREEMPTED", "PR"],
  ["BOOT_FAIL", "BF"],
  ["DEADLINE", "DL"],
  ["OUT_OF_MEMORY", "OOM"],
] as const;

/** Flags as text shows them, alone. */
const FLAGS = [
  ["COMPLETING", "CG", "running"],
  ["STAGE_OUT", "SO", "running"],
  ["CONFIGURING", "CF", "queued"],
  ["POWER_UP_NODE", null, "queued"],
  ["RESIZING", "RS", "running"],
  ["SIGNALING", "SI", "running"],
  ["STOPPED", "ST", "suspended"],
  ["REQUEUED", "RQ", "queued"],
  ["REQUEUE_FED", "RF", "queued"],
  ["LAUNCH_FAILED", null, "queued"],
  ["RECONFIG_FAIL", null, "queued"],
  ["EXPEDITING", null, "queued"],
  ["REQUEUE_HOLD", "RH", "held"],
  ["SPECIAL_EXIT", "SE", "held"],
  ["RESV_DEL_HOLD", "RD", "held"],
  ["REVOKED", "RV", "unknown"],
] as const;

const WORDS = [
  "PENDING",
  "RUNNING",
  "SUSPENDED",
  ...FINAL.map(([word]) => word),
  ...FLAGS.map(([word]) => word),
];

describe("states", () => {
  test.each(FINAL)("%s (%s) is an end, whatever its reason", (word, compact) => {
    for (const state of [word, compact, ` ${word} `]) {
      expect(readState(state, "JobHeldUser")).toEqual({ kind: "ended", state: word, by: null });
    }
  });

  test("all nine final words are ends, and nothing else", () => {
    expect(FINAL.map(([word]) => word)).toEqual([...ENDED_WORDS]);
  });

  test.each(FLAGS)("%s (%s) is %s, alone and on top of any base", (word, compact, kind) => {
    for (const state of [word, ...(compact === null ? [] : [compact])])
      expect(readState(state, "None").kind).toBe(kind);
    for (const base of ["PENDING", "RUNNING", "FAILED", "COMPLETED"]) {
      expect(readState(`${base},${word}`, "None").kind).toBe(kind);
      expect(readState(`${word}+${base}`, "None").kind).toBe(kind);
    }
  });

  test("a flag says in plain words what it means, with Slurm's word behind", () => {
    expect(readState("CG", "")).toEqual({
      kind: "running",
      reason: "its processes are being ended (COMPLETING)",
    });
    expect(readState("CONFIGURING", "None")).toMatchObject({
      reason: "its nodes are starting (CONFIGURING)",
    });
    expect(readState("RUNNING,CONFIGURING,POWER_UP_NODE", "None").kind).toBe("queued");
    expect(readState("STOPPED", "JobHeldAdmin")).toEqual({
      kind: "suspended",
      reason: "stopped by a signal (STOPPED)",
    });
    expect(readState("REVOKED", "")).toMatchObject({ why: expect.stringContaining("federation") });
  });

  test("who cancelled a job is told where Slurm tells it", () => {
    expect(readState("CANCELLED by 1001", "")).toEqual({ kind: "ended", state: "CANCELLED", by: "1001" });
    expect(readState("CANCELLED by 0", "")).toMatchObject({ by: "0" });
  });

  test("a running job's reason says nothing", () => {
    expect(readState("RUNNING", "JobHeldAdmin")).toEqual({ kind: "running", reason: null });
    expect(readState("R", "Priority")).toEqual({ kind: "running", reason: null });
    expect(readState("SUSPENDED", "JobHeldUser").kind).toBe("suspended");
  });

  test("a requeue into the hold is held, whichever word shows it", () => {
    for (const state of ["PENDING", "PD", "REQUEUED", "LAUNCH_FAILED"])
      expect(readState(state, "launch failed requeued held").kind).toBe("held");
    expect(readState("REQUEUED", "BeginTime").kind).toBe("queued");
  });

  test.each([
    "",
    "?",
    "completed",
    "Failed",
    "CANCELLED+",
    "OUT_OF_ME+",
    "COMPLET",
    "NODE_FAIL2",
    "FAILED|",
    "CANCELLED by",
    "CANCELLED by 1 2",
    "FAILED by 1001",
    "RUNNING,FAILED",
    "COMPLETED,",
    "COMPLETED NEW_FLAG",
    "COMPLETED,NEW_FLAG",
    "toString",
  ])("no state, and so no end: %j", (state) => {
    expect(readState(state, "None")).toEqual({ kind: "unknown", why: expect.stringContaining("not known") });
  });

  test("no text that is none of Slurm's words is an end, nor a cut word", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (state, reason) => {
        // Two letters by chance are a compact word.
        fc.pre(state.trim().length > 3 && !/[,+]/.test(state));
        expect(readState(state, reason).kind).not.toBe("ended");
      }),
      { examples: [["COMPLETEDCOMPLETED", ""]] },
    );
    fc.assert(
      fc.property(fc.constantFrom(...WORDS), fc.nat(12), (word, length) => {
        const cut = word.slice(0, length + 3);
        if (cut !== word) expect(readState(cut, "").kind).toBe("unknown");
      }),
    );
  });

  test("a job with a flag has not come to its end, whatever else is in the list", () => {
    const flags = fc.constantFrom(...FLAGS.map(([word]) => word));
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...WORDS)), flags, (words, flag) => {
        expect(readState([...words, flag].join(","), "").kind).not.toBe("ended");
      }),
    );
  });
});

describe("reasons of pending jobs", () => {
  test.each([
    "JobHeldUser",
    "JobHeldAdmin",
    "JobHoldMaxRequeue",
    "job requeued in held state",
    "job_requeued_in_held_state",
    "launch failed requeued held",
    "launch_failed_requeued_held",
    "JobArrayTaskLimit,JobHeldUser",
    "Priority, JobHeldAdmin",
  ])("held: %s", (reason) => {
    const reading = readState("PENDING", reason);
    expect(reading.kind).toBe("held");
    expect(reading).toMatchObject({ reason: expect.stringMatching(/.+ \(.+\)$/) });
  });

  test("all others wait, told in plain words with Slurm's own behind them", () => {
    expect(readState("PENDING", "Priority")).toEqual({
      kind: "queued",
      reason: "other jobs are ahead of it in the queue (Priority)",
    });
    expect(readState("PD", "Resources").kind).toBe("queued");
    for (const none of ["None", "", "(null)"])
      expect(readState("PENDING", none)).toEqual({ kind: "queued", reason: null });
  });

  test.each([
    "DependencyNeverSatisfied",
    "PartitionTimeLimit",
    "PartitionNodeLimit",
    "PartitionConfig",
    "PartitionDown",
    "PartitionInactive",
    "BadConstraints",
    "InvalidAccount",
    "InvalidQOS",
    "AccountNotAllowed",
    "QOSNotAllowed",
    "ReservationDeleted",
    "MaxMemPerLimit",
    "ReqNodeNotAvail",
    "ReqNodeNotAvail, UnavailableNodes:c4",
    "ReqNodeNotAvail,_UnavailableNodes:c[1,3]",
    "ReqNodeNotAvail, May be reserved for other job",
    "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
    "AssocMaxWallDurationPerJobLimit",
    "AssocMaxCpuPerJobLimit",
    "AssocMaxCpuMinutesPerJobLimit",
    "AssocMaxGRESPerNode",
    "QOSMaxNodePerJobLimit",
    "QOSMaxWallDurationPerJobLimit",
    "QOSMaxMemoryMinutesPerJob",
    "QOSMaxCpuPerNode",
    "QOSMinCpuNotSatisfied",
    "QOSMinGRES",
    "AssocGrpCPUMinutesLimit",
    "QOSGrpBillingMinutes",
  ])("never as it is, and what to do: %s", (reason) => {
    const { held, words } = tellReason(reason);
    expect(held).toBe(false);
    expect(words).toMatch(/^it will not start as it is: .+; .+ \(/);
    expect(words?.endsWith(`(${reason})`)).toBe(true);
  });

  test.each([
    ["QOSMaxJobsPerUserLimit", "the limit of its QOS on jobs per user is reached"],
    ["QOSMaxGRESPerUser", "the limit of its QOS on GPUs or other devices per user is reached"],
    ["MaxBillingPerAccount", "the limit of its QOS on billing units per account is reached"],
    ["MaxCpuRunMinsPerUser", "the limit of its QOS on hours of CPUs per user is reached"],
    ["AssocMaxJobsLimit", "the limit of your account on jobs is reached"],
    ["AssocGrpCpuLimit", "the limit of your account on CPUs is reached"],
    ["AssocGrpMemRunMinutes", "the limit of your account on hours of memory is reached"],
    ["QOSGrpNodeLimit", "the limit of its QOS on nodes is reached"],
    ["AssocGrpSubmitJobsLimit", "the limit of your account on jobs in the queue is reached"],
  ])("a limit that others' or one's own jobs use up: %s", (reason, words) => {
    expect(tellReason(reason)).toEqual({ held: false, words: `${words} (${reason})` });
  });

  test("a reason that is in no table is passed on as it is", () => {
    for (const reason of [
      "SomethingNew",
      "the node is on fire",
      "QOSMaxFluxPerJob",
      "constructor",
      "__proto__",
    ])
      expect(readState("PENDING", reason)).toEqual({ kind: "queued", reason });
  });

  test("every reason of the table is told within a status line", () => {
    for (const reason of Object.keys(REASONS)) {
      const { held, words } = tellReason(reason);
      expect(words?.length).toBeLessThanOrEqual(160);
      expect(words).toMatch(/^[a-z].*\)$/i);
      expect(readState("PENDING", reason).kind).toBe(held ? "held" : "queued");
    }
  });
});
