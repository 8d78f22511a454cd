/**
 * The one table of errors. Codes never change once released. `retryable` tells a caller whether the same request
 * may succeed later; where a create may already have been applied, the message says to retry with the same key.
 */
export const ERRORS = {
  unknown_tool: { retryable: false, meaning: "no tool of that name is defined here" },
  invalid_arguments: { retryable: false, meaning: "the arguments do not fit the tool's input schema" },
  key_conflict: { retryable: false, meaning: "the idempotency key was used with other arguments" },
  key_expired: { retryable: false, meaning: "the task of that idempotency key has expired" },
  key_missing: { retryable: false, meaning: "the tool requires an idempotency key" },
  unknown_task: { retryable: false, meaning: "no such task, or it has expired, or it is another caller's" },
  invalid_cursor: { retryable: false, meaning: "the stream cursor is not valid for this task" },
  events_gone: { retryable: false, meaning: "events after the cursor are no longer kept" },
  unknown_resource: { retryable: false, meaning: "no such resource, or it is another caller's" },
  tasks_required: { retryable: false, meaning: "the call needs a client that declares the Tasks extension" },
  limit_reached: { retryable: true, meaning: "a configured limit of this caller is reached" },
  target_unavailable: {
    retryable: true,
    meaning: "the target is not configured or not reachable from this process",
  },
  store_unavailable: { retryable: true, meaning: "the store did not answer" },
  store_full: { retryable: true, meaning: "the store refuses writes because its memory is full" },
  store_mismatch: { retryable: false, meaning: "the store belongs to another version or configuration" },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** A fault that a caller of ours is told about. `data` is JSON and safe to send: no secret, no task id of another. */
export class TailraceError extends Error {
  readonly code: ErrorCode;
  readonly data: Readonly<Record<string, unknown>>;
  constructor(
    code: ErrorCode,
    message: string,
    options: { data?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "TailraceError";
    this.code = code;
    this.data = options.data ?? {};
  }
  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }
}

/**
 * Faults on the way to a scheduler (its answers are values). The code, not the call site, decides the retry:
 * `unreachable` nothing was sent, try again · `uncertain` it was sent and may have been applied, locate before
 * anything else · `unreadable` an answer came that cannot be understood, ask again later.
 */
export const BRIDGE_FAULTS = {
  unreachable: { mayHaveHappened: false },
  uncertain: { mayHaveHappened: true },
  unreadable: { mayHaveHappened: true },
} as const;
export type BridgeFault = keyof typeof BRIDGE_FAULTS;

/** Says what was tried, on which target, what came back (argv, exit code, start of stderr) and what happens next. */
export class BridgeError extends Error {
  readonly fault: BridgeFault;
  readonly target: string;
  constructor(fault: BridgeFault, target: string, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "BridgeError";
    this.fault = fault;
    this.target = target;
  }
  get mayHaveHappened(): boolean {
    return BRIDGE_FAULTS[this.fault].mayHaveHappened;
  }
}
