import { BridgeError } from "../../../src/domain/errors.ts";
import { newestLives, parseAccount } from "./account-rows.ts";
import { answerOf } from "./ask-slurm.ts";
import { accountArguments } from "./commands.ts";
import type { SlurmRoom } from "./room.ts";

/** The newest life of a job, as accounting has it. */
export type AccountLife =
  ReturnType<typeof newestLives> extends ReadonlyMap<string, infer Life> ? Life : never;

export type AccountAnswer =
  /** This cluster keeps no accounts, or is not to be asked for them. */
  | { readonly kind: "off" }
  | { readonly kind: "silent"; readonly why: string }
  | { readonly kind: "answered"; readonly lives: ReadonlyMap<string, AccountLife> };

/** sacct asks a data base that others share: not more often than this, in ms, whatever the number of jobs. */
const REST_MS = 10_000;
/** A query of this many ids is cut: Linux takes 128 KiB per argument. */
const MAX_IDS = 10_000;
const MARGIN_MS = 3_600_000;

export type Accounts = {
  /** What accounting knows of these jobs, none of them older than `sinceMs`. Never throws for what sacct does. */
  ask(ids: readonly string[], sinceMs: number, signal: AbortSignal): Promise<AccountAnswer>;
};

export function createAccounts(room: SlurmRoom): Accounts {
  let askedMs = Number.NEGATIVE_INFINITY;
  let askedFor = new Set<string>();
  let last: AccountAnswer = { kind: "off" };
  return {
    async ask(ids, sinceMs, signal) {
      if (!(await keepsAccounts(room, signal))) return { kind: "off" };
      const isKnown = ids.every((id) => askedFor.has(id));
      if (room.now() - askedMs < REST_MS)
        return isKnown ? last : { kind: "silent", why: "accounting is asked again in a moment" };
      askedMs = room.now();
      askedFor = new Set(ids);
      last = await query(room, { ids: ids.slice(0, MAX_IDS) }, sinceMs, signal);
      return last;
    },
  };
}

/** Jobs of these names, which are marks, in accounting. Throws BridgeError when it did not answer. */
export async function accountByName(
  room: SlurmRoom,
  names: readonly string[],
  sinceMs: number,
  signal: AbortSignal,
): Promise<readonly AccountLife[]> {
  if (!(await keepsAccounts(room, signal))) return [];
  const answer = await query(room, { names }, sinceMs, signal);
  if (answer.kind === "silent")
    throw new BridgeError("unreachable", room.target, `target ${room.target}: ${answer.why}`);
  return answer.kind === "off" ? [] : [...answer.lives.values()];
}

async function keepsAccounts(room: SlurmRoom, signal: AbortSignal): Promise<boolean> {
  if (room.config.accounting === "off") return false;
  return (await room.facts.get(room, signal)).accounting;
}

async function query(
  room: SlurmRoom,
  by: Parameters<typeof accountArguments>[0],
  sinceMs: number,
  signal: AbortSignal,
): Promise<AccountAnswer> {
  try {
    const stdout = await answerOf(room, "sacct", accountArguments(by, sinceMs - MARGIN_MS), { signal });
    const { rows, problems } = parseAccount(stdout, room.facts.known?.version ?? null);
    const [problem] = problems;
    if (problem !== undefined)
      return { kind: "silent", why: `what sacct answered cannot be read: ${problem}` };
    return { kind: "answered", lives: newestLives(rows) };
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    return { kind: "silent", why: error.message };
  }
}
