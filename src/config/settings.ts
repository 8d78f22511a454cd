import type { JsonObject } from "../domain/json.ts";
import type { ToolDefinition } from "../domain/tool.ts";
import type { Tuning } from "../domain/tuning.ts";

/** The whole configuration of one process, validated: what the composition root is built from. */
export type Settings = {
  /** Where the embedded store, the drawn token and, by default, the local jobs live. */
  readonly stateDir: string;
  /** Part of every mark: 1 to 16 of a-z and 0-9. Configured, so that a lost store still finds its jobs. */
  readonly instance: string;
  readonly store: {
    /** redis:// or rediss:// URL, or unix:// path; null: the embedded server. */
    readonly url: string | null;
    readonly prefix: string;
    readonly durability: "strict" | "relaxed";
    /** Vendor prefix of event types, reverse-DNS. */
    readonly eventPrefix: string;
    readonly claimTtlMs: number;
  };
  readonly listen: {
    readonly host: string;
    /** 0: any free port. */
    readonly port: number;
    /** Host names beside loopback's; null: any, behind a proxy that checks. */
    readonly allowedHosts: readonly string[] | null;
    readonly allowedOrigins: readonly string[];
  };
  readonly auth:
    | { readonly kind: "drawn" }
    | { readonly kind: "none" }
    /** `sha256` hex of each token: tokens are never kept. */
    | {
        readonly kind: "tokens";
        readonly tokens: readonly { readonly name: string; readonly sha256: string }[];
      };
  readonly limits: {
    /** How long a call of a client without Tasks waits for its job. */
    readonly inlineWaitMs: number;
    readonly streamsPerCaller: number;
    readonly streamsPerTask: number;
  };
  /** By name; each parsed by the schema of its scheduler. */
  readonly targets: Readonly<Record<string, { readonly scheduler: string }>>;
  /** Scheduler settings by target that its tools start from. */
  readonly defaults: Readonly<Record<string, JsonObject>>;
  readonly tools: readonly ToolDefinition[];
  readonly tuning: Tuning;
};
