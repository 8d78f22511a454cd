import { TailraceError } from "../domain/errors.ts";

/**
 * What a fault of Redis or of the way to it means to a caller. Errors that are neither (a bug of ours) pass unchanged.
 * Sources: the error prefixes of Redis 6.2 to 7 and Valkey 8; all that ioredis rejects with and the server did not say is
 * about the connection.
 */
export function toStoreFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof TailraceError || error instanceof TypeError) return error;
  if (error.name !== "ReplyError") return unavailable(error, `no answer from Redis (${error.message})`);
  // 6.2 wraps it: "ERR Error running script … -OOM command not allowed …".
  if (/\bOOM command not allowed/.test(error.message)) {
    return new TailraceError(
      "store_full",
      "Redis has reached its maxmemory and refuses writes; nothing was written. Raise maxmemory or let tasks expire.",
      { cause: error },
    );
  }
  if (/\bWRONGTYPE\b/.test(error.message)) {
    const message = "a key of the store holds something else: do other programs use this prefix?";
    return new TailraceError("store_mismatch", message, { cause: error });
  }
  if (REFUSALS.test(error.message)) return unavailable(error, `Redis refused: ${firstLine(error.message)}`);
  return error;
}

const REFUSALS =
  /^-?(LOADING|BUSY|MISCONF|READONLY|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|NOAUTH|WRONGPASS|NOPERM|UNKILLABLE)\b|max number of clients|-(MISCONF|READONLY|NOREPLICAS)\b/;

function unavailable(cause: Error, what: string): TailraceError {
  const message = `${what}. A write may have been applied all the same: retry with the same key.`;
  return new TailraceError("store_unavailable", message, { cause });
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}

/** Every answer of the store, or the error that says there is none, comes within this time. */
export const ANSWER_WITHIN_MS = 2000;

/**
 * Runs calls to Redis, turning their faults into ours. The deadline is over all of them: ioredis counts its own from the
 * moment a command is sent, and auto-pipelining sends nothing while an earlier pipeline still waits for its answer.
 */
export async function withFaults<T>(run: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`none within ${ANSWER_WITHIN_MS} ms`)), ANSWER_WITHIN_MS);
  });
  try {
    return await Promise.race([run(), late]);
  } catch (error) {
    throw toStoreFault(error);
  } finally {
    clearTimeout(timer);
  }
}
