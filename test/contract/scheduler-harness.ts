import type { JobRef, Observation, SchedulerAdapter, SubmitRequest } from "../../src/domain/adapter.ts";
import { eventually } from "../support/eventually.ts";
import { NEVER } from "../support/jobs.ts";

/**
 * What a scheduler brings to the contract suite: the means to look at it and to hurt it without its adapter. Everything
 * that is true of one scheduler alone lives behind this.
 */
export type SchedulerHarness = {
  readonly instance: string;
  /** Longest time from submit to a running job, and from a stop to its end, in ms. Both may take seconds. */
  readonly patienceMs: number;
  /** A new adapter on the same scheduler, as a new process would make it. */
  open(): SchedulerAdapter;
  /** A reference as this scheduler's adapter gives them out, of a job that is not there: other marks, other ids. */
  absent(mark: string): JobRef;
  /** A path that this test and all jobs can reach. */
  scratch(name: string): string;
  /** Processes (or pods) that belong to the job, asked of the system and not of the adapter. */
  leftovers(mark: string): Promise<string[]>;
  /** What a mark has left behind in files and in the scheduler; empty when nothing. */
  traces(mark: string): Promise<string[]>;
  /** Scheduler commands or requests issued so far. */
  calls(): Promise<number>;
  /** Submits in a process of its own that is killed as soon as the scheduler has accepted. */
  submitAndDie(request: SubmitRequest): Promise<void>;
  /** Submits; the scheduler accepts, and its answer does not come through. */
  submitAndLoseAnswer(request: SubmitRequest): Promise<unknown>;
  /** An adapter whose scheduler cannot be reached. */
  unreachable(): Promise<{ adapter: SchedulerAdapter; restore(): Promise<void> }>;
  /** Fills every slot, so that what is submitted next waits. Returns the means to let go. */
  occupy(): Promise<{ release(): Promise<void> }>;
  /** References that look like ours but name somebody else's work, and a way to see that it still runs. */
  foreign(): Promise<{ refs: JobRef[]; isUnharmed(): Promise<boolean>; stop(): Promise<void> }>;
  close(): Promise<void>;
};

export async function submitted(adapter: SchedulerAdapter, request: SubmitRequest): Promise<JobRef> {
  const answer = await adapter.submit(request, NEVER);
  if (answer.kind === "rejected") throw new Error(`rejected: ${answer.reason}`);
  return answer.job;
}

export async function look(adapter: SchedulerAdapter, job: JobRef): Promise<Observation> {
  const seen = (await adapter.observe([job], NEVER)).get(job.id);
  if (seen === undefined) throw new Error(`no answer for ${job.id}`);
  return seen;
}

/** Observes until the job is of this kind. */
export async function until<K extends Observation["kind"]>(
  adapter: SchedulerAdapter,
  job: JobRef,
  kind: K,
  patienceMs: number,
): Promise<Extract<Observation, { kind: K }>> {
  return eventually(async () => {
    const seen = await look(adapter, job);
    if (!isKind(seen, kind)) throw new Error(`expected ${kind}, saw ${JSON.stringify(seen)}`);
    return seen;
  }, patienceMs);
}

function isKind<K extends Observation["kind"]>(
  seen: Observation,
  kind: K,
): seen is Extract<Observation, { kind: K }> {
  return seen.kind === kind;
}
