import type { Estimate } from "../../../src/domain/adapter.ts";
import type { RunResult } from "../shared/command-runner.ts";
import { linesOf, refusalText } from "./refusals.ts";

export type CommandResult = Pick<
  RunResult,
  "exitCode" | "stdout" | "stderr" | "timedOut" | "aborted" | "notStarted"
>;

/** What became of one call of sbatch. `busy`, `unreachable`: no job was made. `uncertain`: perhaps one was. */
export type SubmitReading =
  | { readonly kind: "accepted"; readonly id: string; readonly cluster: string | null }
  | { readonly kind: "rejected"; readonly reason: string }
  | { readonly kind: "busy" | "unreachable" | "uncertain"; readonly why: string };

/** Not before it has read its configuration does sbatch talk to anybody, nor without a credential. */
const NOTHING_SENT =
  /fatal: .*(?:configuration|config)\b|Munge encode failed|REQUEST_SUBMIT_BATCH_JOB has authentication error/i;

/** The controller answered, and took nothing: it may later. */
const BUSY =
  /temporarily unable to accept job|Resource temporarily unavailable|(?:QOS|Assoc)(?:Max|Grp)SubmitJobs?\w*Limit|MaxSubmitJobsPerAccount|standby mode/;

/** Something went wrong between sbatch and the controller; which way it was lost cannot be known. */
const LOST =
  /timed out|unable to contact|zero bytes|unexpected message|transmitted or received|message (?:send|receive)|connection|broken pipe|transport endpoint|protocol|insane message|header lengths|input\/output error/i;

/**
 * Reads the answer of `sbatch --parsable`. `controllers`: how many may have taken the request, null when that is not
 * known: with one, a refused connection means that nothing was sent. Only a clear refusal is called one.
 */
export function readSubmit(result: CommandResult, controllers: number | null): SubmitReading {
  const { exitCode, stdout, stderr, notStarted } = result;
  if (notStarted !== null) return { kind: "unreachable", why: `sbatch could not be started: ${notStarted}` };
  const said = linesOf(stderr);
  if (exitCode === 0) return readId(stdout) ?? { kind: "uncertain", why: why("sbatch told no job id", said) };
  if (result.timedOut) return { kind: "uncertain", why: why("sbatch did not end in time", said) };
  if (result.aborted || exitCode === null)
    return { kind: "uncertain", why: why("sbatch was stopped before it answered", said) };
  // An id and a failure: the job may well be there.
  if (readId(stdout) !== null)
    return { kind: "uncertain", why: why(`sbatch told an id and failed (${exitCode})`, said) };
  return readFailure(exitCode, { stderr, said }, controllers);
}

function readFailure(
  exitCode: number,
  { stderr, said }: { readonly stderr: string; readonly said: readonly string[] },
  controllers: number | null,
): SubmitReading {
  if (NOTHING_SENT.test(stderr))
    return { kind: "unreachable", why: why("sbatch could not talk to Slurm", said) };
  if (/connect failure/i.test(stderr) && controllers === 1)
    return { kind: "unreachable", why: why("the controller does not answer", said) };
  const isSbatch = /^sbatch: /m.test(stderr);
  if (!isSbatch && (exitCode === 126 || exitCode === 127))
    return { kind: "unreachable", why: why("sbatch could not be started", said) };
  const failure = stderr.split(/\r?\n/).filter((line) => /submission failed/.test(line));
  // What the site's plugins say may hold any words: where Slurm names the failure, that alone is looked at.
  if (LOST.test(failure.length > 0 ? failure.join("\n") : stderr))
    return { kind: "uncertain", why: why("the answer of the controller was lost", said) };
  if (BUSY.test(said.join("\n")))
    return { kind: "busy", why: why("Slurm takes no more jobs just now", said) };
  if (isSbatch) return { kind: "rejected", reason: refusalText(said) };
  return { kind: "uncertain", why: why(`sbatch failed with exit code ${exitCode}`, said) };
}

/**
 * Some sites' wrappers print more on stdout: the last line that is an id counts. One without a line end may have been cut,
 * and then names another job.
 */
function readId(stdout: string): Extract<SubmitReading, { kind: "accepted" }> | null {
  const line = stdout
    .split("\n")
    .slice(0, -1)
    .map((text) => text.trim())
    .findLast((text) => /^[1-9]\d*(?:;[\w.-]+)?$/.test(text));
  if (line === undefined) return null;
  const [id = "", cluster = null] = line.split(";");
  return { kind: "accepted", id, cluster };
}

function why(what: string, said: readonly string[]): string {
  return said.length === 0 ? what : `${what}: ${said.join("; ")}`;
}

/** Reads the answer of `sbatch --test-only`, which comes on stderr, by TZ=UTC. Null: it gave none. */
export function readTestOnly(result: CommandResult): Estimate | null {
  const { exitCode, stderr } = result;
  const start = /\bJob \d+ to start at (\S+)/.exec(stderr)?.[1];
  if (start !== undefined && exitCode === 0)
    return { accepted: true, startsAtMs: startMs(start), reason: notesOf(stderr) };
  const refusal = /^allocation failure: (.*)$/m.exec(stderr)?.[1];
  if (refusal !== undefined && !LOST.test(refusal)) {
    const said = linesOf(stderr).map((line) => line.replace(/^allocation failure: /, ""));
    return { accepted: false, startsAtMs: null, reason: refusalText([...new Set(said)]) };
  }
  const reading = refusal === undefined && exitCode !== 0 ? readSubmit(result, null) : null;
  if (reading?.kind === "rejected") return { accepted: false, startsAtMs: null, reason: reading.reason };
  return reading?.kind === "busy" ? { accepted: false, startsAtMs: null, reason: reading.why } : null;
}

function startMs(text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

function notesOf(stderr: string): string | null {
  const notes = linesOf(stderr).filter((line) => !/\bJob \d+ to start at /.test(line));
  return notes.length === 0 ? null : notes.join("; ");
}
