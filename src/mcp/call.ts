import type { Logger } from "pino";
import type { JsonObject } from "../domain/json.ts";
import type { Principal } from "../domain/principal.ts";
import type { ToolDefinition } from "../domain/tool.ts";
import type { TaskService } from "../tasks/service.ts";
import type { EventStream } from "../tasks/stream.ts";
import type { ServerInfo } from "./protocol.ts";

/** One request, free of its transport. `meta` has passed the envelope's checks. */
export type Call = {
  readonly method: string;
  readonly params: JsonObject;
  readonly meta: JsonObject;
  readonly principal: Principal;
  /** Aborts when the caller hangs up or cancels the request. */
  readonly signal: AbortSignal;
};

/** `result` is ready JSON text. A stream's events go out before its result; whoever sends them closes it. */
export type Reply =
  | { readonly kind: "result"; readonly result: string }
  | {
      readonly kind: "stream";
      readonly taskId: string;
      readonly events: EventStream;
      readonly result: string;
    };

export type FrontDeskDeps = {
  readonly tasks: TaskService;
  readonly tools: () => ReadonlyMap<string, ToolDefinition>;
  /** Whether a target is configured in this process. */
  readonly isTargetKnown: (target: string) => boolean;
  readonly serverInfo: ServerInfo;
  readonly instructions: string;
  /** How long a call by a client without Tasks may wait for its job. */
  readonly inlineWaitMs: number;
  readonly log: Logger;
};

/** What methods are handed. */
export type MethodDeps = FrontDeskDeps & { readonly reply: ReplyMaker };

export type Method = (call: Call, deps: MethodDeps) => Promise<Reply>;

export type ReplyMaker = {
  /** JSON text of serverInfo. */
  readonly serverInfo: string;
  /** Adds serverInfo to `_meta` (C5). */
  of(result: JsonObject): Reply;
};
