import { readFileSync } from "node:fs";
import { type ExitStatus, exitStatus } from "../../adapters/schedulers/slurm/fields.ts";

/** One look at one job, as one of Slurm's views tells it. */
export type Look = {
  readonly view: "squeue" | "scontrol" | "sacct";
  readonly id: string;
  readonly state: string;
  /** Null where the view has no reason. */
  readonly reason: string | null;
  /** Null where the view has no exit code. */
  readonly exit: ExitStatus | null;
  readonly requeues: number | null;
  readonly nodes: string | null;
};

const FOLDER = new URL("../fixtures/slurm/", import.meta.url);

/** The looks of each command in a capture, in order. Steps of jobs are left out. */
export function looksOf(file: string): { readonly command: string; readonly looks: Look[] }[] {
  const text = readFileSync(new URL(file, FOLDER), "utf8");
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((block) => {
      const [command = ""] = block.split("\n", 1);
      const body = /^--- stdout\n([\s\S]*?)(?=^--- stderr|(?![\s\S]))/m.exec(block)?.[1] ?? "";
      return { command, looks: looksIn(command, body) };
    });
}

function looksIn(command: string, body: string): Look[] {
  if (/--json/.test(command)) return body.split("\n").flatMap((line) => jsonLooks(command, line));
  if (/\bscontrol .*show job/.test(command))
    return scontrolLooks(body, /show job (\d+)/.exec(command)?.[1] ?? "");
  const name = /\b(squeue|sacct)\b/.exec(command)?.[1];
  const columns = columnsOf(command);
  if (name === "squeue" && columns !== null) return tableLooks("squeue", body, columns);
  if (name === "squeue") return plainLooks(body);
  // Without -P the columns are cut: nobody should read those.
  return name === "sacct" && columns !== null && / -\w*P/.test(command)
    ? tableLooks("sacct", body, columns)
    : [];
}

/** Names of the columns as `squeue -o '%i|…'`, `squeue -O 'JobID:|,…'` or `sacct -P -o JobID,…` ask for them. */
function columnsOf(command: string): string[] | null {
  const short = /\bsqueue\b.* -o '?(%[^']*)/.exec(command)?.[1];
  if (short !== undefined && !short.includes("%all")) {
    const fields: Record<string, string> = {
      i: "label",
      A: "id",
      t: "compact",
      T: "state",
      r: "reason",
      N: "nodes",
    };
    return [...short.matchAll(/%\.?\d*([A-Za-z])/g)].map(([, letter = ""]) => fields[letter] ?? letter);
  }
  const long =
    /\bsqueue\b.* -O '?((?:\w+:\|,?)+)/.exec(command)?.[1] ?? /\bsacct\b.* -o ([\w,]+)/.exec(command)?.[1];
  const fields: Record<string, string> = {
    jobid: "label",
    jobidraw: "id",
    state: "state",
    reason: "reason",
    exitcode: "exit",
    exit_code: "exit",
    restartcnt: "requeues",
    restarts: "requeues",
    nodelist: "nodes",
  };
  return long?.split(",").map((field) => fields[field.replace(":|", "").toLowerCase()] ?? field) ?? null;
}

function tableLooks(view: Look["view"], body: string, columns: readonly string[]): Look[] {
  return body.split("\n").flatMap((line) => {
    const cells = line.includes("|") ? line.split("|") : line.split(" ");
    const row = new Map(columns.map((column, index) => [column, cells[index]?.trim()]));
    const label = row.get("label") ?? row.get("id") ?? "";
    const isJob = cells.length >= columns.length && /^\d[\d_+,%[\]-]*$/.test(label);
    if (!isJob) return [];
    const look = {
      view,
      id: row.get("id") ?? label,
      // sacct's own reason is that of the job's past; our call does not ask for it.
      reason: view === "sacct" ? null : (row.get("reason") ?? null),
      exit: sacctExit(view, row.get("state"), exitStatus(row.get("exit"))),
      requeues: row.get("requeues") === undefined ? null : Number(row.get("requeues")),
      nodes: row.get("nodes") ?? null,
    };
    return ["state", "compact"].flatMap((column) => {
      const state = row.get(column);
      return state === undefined ? [] : [{ ...look, state }];
    });
  });
}

/** Before 25.11 accounting takes 128 off: all captures are of such versions. */
function sacctExit(view: string, state: string | undefined, exit: ExitStatus | null): ExitStatus | null {
  const isLossy =
    view === "sacct" && state === "FAILED" && exit !== null && exit.signal === 0 && exit.code < 128;
  return isLossy ? { ...exit, lossy: true } : exit;
}

/** `squeue` without a format: JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON). */
function plainLooks(body: string): Look[] {
  return body.split("\n").flatMap((line) => {
    const [, id, state, last = ""] =
      /^\s*(\d\S*)\s+\S+\s+\S+\s+\S+\s+([A-Z]+)\s+[\d:-]+\s+\d+\s*(.*)$/.exec(line) ?? [];
    if (id === undefined || state === undefined) return [];
    const reason = /^\((.*)\)$/.exec(last.trim())?.[1] ?? "";
    const nodes = reason === "" ? last.trim() : null;
    return [{ view: "squeue" as const, id, state, reason, exit: null, requeues: null, nodes }];
  });
}

/** Whole records, or lines that grep took out of one. */
function scontrolLooks(body: string, asked: string): Look[] {
  return body.split(/(?=\bJobId=)/).flatMap((record) =>
    [...record.matchAll(/JobState=(\S+)(?: Reason=(.*?)(?: FailedNode=\S+)? Dependency=)?/g)].map(
      (match) => ({
        view: "scontrol" as const,
        id: /JobId=(\d+)/.exec(record)?.[1] ?? asked,
        state: match[1] ?? "",
        reason: match[2] ?? null,
        exit: exitStatus(/ ExitCode=(\S+)/.exec(record)?.[1]),
        requeues: numberOrNull(/ Restarts=(\d+)/.exec(record)?.[1]),
        nodes: /^JobId=/.test(record) ? (/ NodeList=(\S*)/.exec(record)?.[1] ?? "") : null,
      }),
    ),
  );
}

function numberOrNull(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

/** One line is one document, one job of a document (`jq -c '.jobs[]|{…}'`), or a job as a list. */
function jsonLooks(command: string, line: string): Look[] {
  if (!/^[[{]/.test(line)) return [];
  const view = /sacct/.test(command) ? "sacct" : /scontrol/.test(command) ? "scontrol" : "squeue";
  // `; echo rc=$?` follows a document without a line end on the same line.
  const document: unknown = JSON.parse(line.replace(/rc=\d+$/, ""));
  const jobs = isRecord(document) && Array.isArray(document["jobs"]) ? document["jobs"] : [document];
  return jobs.flatMap((job: unknown) => {
    if (Array.isArray(job)) return /state/.test(command) ? listLook(view, job) : [];
    if (!isRecord(job)) return [];
    const state = isRecord(job["state"]) ? job["state"]["current"] : job["job_state"];
    if (state === undefined) return [];
    const exit = jsonExit(job["exit_code"]);
    const words = wordsOf(state);
    // sacct of 22.05 tells a status of 0 for every job here.
    const isWrong = view === "sacct" && typeof state === "string";
    return [
      {
        view,
        id: String(job["job_id"]),
        state: words,
        reason: view === "sacct" ? null : String(job["state_reason"] ?? ""),
        exit: isWrong ? null : exit,
        requeues: typeof job["restart_cnt"] === "number" ? job["restart_cnt"] : null,
        nodes: typeof job["nodes"] === "string" ? job["nodes"] : null,
      } as const,
    ];
  });
}

/** `[.job_id, .job_state, …]` */
function listLook(view: Look["view"], [id, told]: readonly unknown[]): Look[] {
  const state = isRecord(told) ? told["current"] : told;
  if (typeof id !== "number" || state === null || state === undefined) return [];
  return [
    { view, id: String(id), state: wordsOf(state), reason: null, exit: null, requeues: null, nodes: null },
  ];
}

function wordsOf(state: unknown): string {
  return Array.isArray(state) ? state.join(",") : String(state);
}

function jsonExit(told: unknown): ExitStatus | null {
  if (typeof told === "number") return exitStatus(String(told));
  if (!isRecord(told)) return null;
  return {
    code: numberIn(told["return_code"]),
    signal: numberIn(isRecord(told["signal"]) ? told["signal"]["id"] : 0),
  };
}

function numberIn(told: unknown): number {
  if (typeof told === "number") return told;
  return isRecord(told) && told["set"] === true && typeof told["number"] === "number" ? told["number"] : 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
