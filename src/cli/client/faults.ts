import type { JsonObject } from "../../domain/json.ts";

/**
 * No answer, or none that says whether the request was carried out: the connection broke, the server is away, starting
 * or full. The same request may be sent again where repeating it is harmless.
 */
export class Unreachable extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "Unreachable";
  }
}

/** No server has left its address, or the one that did is gone. */
export class NoServer extends Unreachable {
  constructor(message: string) {
    super(message);
    this.name = "NoServer";
  }
}

/** The server's own no: sending the same again brings the same answer. `code` is JSON-RPC's; null for plain HTTP. */
export class Refused extends Error {
  readonly code: number | null;
  readonly data: JsonObject;
  constructor(message: string, code: number | null, data: JsonObject = {}) {
    super(message);
    this.name = "Refused";
    this.code = code;
    this.data = data;
  }
}
