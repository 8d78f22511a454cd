import { tellReason } from "./reasons.ts";

/** The base words that are final. */
export const ENDED_WORDS = [
  "COMPLETED",
  "CANCELLED",
  "FAILED",
  "TIMEOUT",
  "NODE_FAIL",
  "PREEMPTED",
  "BOOT_FAIL",
  "DEADLINE",
  "OUT_OF_MEMORY",
] as const;
export type EndedWord = (typeof ENDED_WORDS)[number];

/** What a state and a reason come to. `by`: who cancelled it, a user id or name, where that is told. */
export type Reading =
  | { readonly kind: "queued" | "held" | "running" | "suspended"; readonly reason: string | null }
  | { readonly kind: "ended"; readonly state: EndedWord; readonly by: string | null }
  | { readonly kind: "unknown"; readonly why: string };

/** Of which every job has exactly one; with its compact form. Source: `enum job_states` and job_state_string(_compact), Slurm 20.11 to 26.05. */
const BASES: Readonly<Record<string, string>> = {
  PENDING: "PD",
  RUNNING: "R",
  SUSPENDED: "S",
  COMPLETED: "CD",
  CANCELLED: "CA",
  FAILED: "F",
  TIMEOUT: "TO",
  NODE_FAIL: "NF",
  PREEMPTED: "PR",
  BOOT_FAIL: "BF",
  DEADLINE: "DL",
  OUT_OF_MEMORY: "OOM",
};

type Flag = {
  readonly compact: string | null;
  readonly phase: "queued" | "held" | "running" | "suspended" | "elsewhere";
  readonly words: string;
};

/**
 * Any number of them on top of a base, strongest first. Text shows one word, so that a flag hides the base; lists of
 * words (JSON of 23.11 and newer) are read by the same rule: a job with a flag has not come to its end. Source: JOB_*
 * flags of slurm.h, job_state_string(_compact) and, for lists, data_parser JOB_STATE; EXPEDITING since 25.11.
 */
const FLAGS: Readonly<Record<string, Flag>> = {
  REVOKED: {
    compact: "RV",
    phase: "elsewhere",
    words: "it was taken over by another cluster of the federation",
  },
  COMPLETING: { compact: "CG", phase: "running", words: "its processes are being ended" },
  STAGE_OUT: { compact: "SO", phase: "running", words: "its files are being copied out of the burst buffer" },
  CONFIGURING: { compact: "CF", phase: "queued", words: "its nodes are starting" },
  POWER_UP_NODE: { compact: null, phase: "queued", words: "its nodes are starting" },
  REQUEUE_HOLD: {
    compact: "RH",
    phase: "held",
    words: "requeued and held; release it with scontrol release",
  },
  SPECIAL_EXIT: {
    compact: "SE",
    phase: "held",
    words: "requeued and held, marked as a special exit; release it with scontrol release",
  },
  RESV_DEL_HOLD: {
    compact: "RD",
    phase: "held",
    words: "held because its reservation was deleted; release it with scontrol release",
  },
  REQUEUED: { compact: "RQ", phase: "queued", words: "it is being requeued" },
  REQUEUE_FED: { compact: "RF", phase: "queued", words: "it is being requeued in the federation" },
  LAUNCH_FAILED: { compact: null, phase: "queued", words: "its launch failed and it is being requeued" },
  RECONFIG_FAIL: {
    compact: null,
    phase: "queued",
    words: "its nodes could not be set up and it is being requeued",
  },
  EXPEDITING: { compact: null, phase: "queued", words: "it is being requeued ahead of others" },
  STOPPED: { compact: "ST", phase: "suspended", words: "stopped by a signal" },
  RESIZING: { compact: "RS", phase: "running", words: "its size is being changed" },
  SIGNALING: { compact: "SI", phase: "running", words: "a signal is being sent to it" },
};

/** Long, compact, and `OO`: that is what is left of OOM in a column of two, as squeue has it without a format. */
const LONG_WORDS: ReadonlyMap<string, string> = new Map([
  ...[...Object.keys(BASES), ...Object.keys(FLAGS)].map((word) => [word, word] as const),
  ...Object.entries(BASES).map(([word, compact]) => [compact, word] as const),
  ...Object.entries(FLAGS).flatMap(([word, { compact }]) =>
    compact === null ? [] : [[compact, word] as const],
  ),
  ["OO", "OUT_OF_MEMORY"] as const,
]);

/**
 * Reads a job's state: a word in its long or compact form, `CANCELLED by 1001`, or a list of base and flags joined by
 * "," or "+". A word that Slurm does not have, or a cut one, is never an end.
 */
export function readState(state: string, reason: string): Reading {
  // A thousand jobs in a queue show a handful of states and reasons.
  const key = `${state}\n${reason}`;
  const known = READINGS.get(key);
  if (known !== undefined) return known;
  if (READINGS.size >= MAX_READINGS) READINGS.clear();
  const reading = toReading(state, reason);
  READINGS.set(key, reading);
  return reading;
}

const READINGS = new Map<string, Reading>();
const MAX_READINGS = 1000;

function toReading(state: string, reason: string): Reading {
  const text = state.trim();
  const by = /^CANCELLED by (\S+)$/.exec(text)?.[1];
  if (by !== undefined) return { kind: "ended", state: "CANCELLED", by };
  const words = new Set(text.split(/[,+]/).map((word) => LONG_WORDS.get(word.trim())));
  const bases = Object.keys(BASES).filter((word) => words.has(word));
  if (words.has(undefined) || bases.length > 1) return unknownState(text);
  const flag = Object.keys(FLAGS).find((word) => words.has(word));
  if (flag !== undefined) return readFlag(flag, reason);
  const [base] = bases;
  return base === undefined ? unknownState(text) : readBase(base, reason);
}

function unknownState(text: string): Reading {
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return { kind: "unknown", why: `Slurm tells a state that is not known here: ${JSON.stringify(shown)}` };
}

function readFlag(word: string, reason: string): Reading {
  const flag = FLAGS[word];
  if (flag === undefined) return unknownState(word);
  if (flag.phase === "elsewhere") return { kind: "unknown", why: `${flag.words} (${word})` };
  if (flag.phase === "queued" && word !== "CONFIGURING" && word !== "POWER_UP_NODE") {
    const told = tellReason(reason);
    if (told.held) return { kind: "held", reason: told.words };
  }
  return { kind: flag.phase, reason: `${flag.words} (${word})` };
}

/** Only a pending job's reason means something: a running one can carry JobHeldAdmin, an ended one its last. */
function readBase(word: string, reason: string): Reading {
  const ended = ENDED_WORDS.find((one) => one === word);
  if (ended !== undefined) return { kind: "ended", state: ended, by: null };
  if (word === "RUNNING") return { kind: "running", reason: null };
  if (word === "SUSPENDED")
    return { kind: "suspended", reason: "paused by an administrator or for another job (SUSPENDED)" };
  const told = tellReason(reason);
  return { kind: told.held ? "held" : "queued", reason: told.words };
}
