import type { JsonObject } from "./json.ts";

/** A tool definition after validation, ready to be called: what the operator wrote, with defaults filled in. */
export type ToolDefinition = {
  readonly name: string;
  readonly title: string | null;
  readonly description: string;
  readonly target: string;
  /** JSON Schema 2020-12 of the arguments, type object. */
  readonly inputSchema: JsonObject;
  /** Schema of the job's result.json, when the operator gave one. */
  readonly outputSchema: JsonObject | null;
  /** Checks arguments and fills defaults in; problems name the field and say why. */
  readonly checkArguments: (
    args: JsonObject,
  ) => { readonly args: JsonObject } | { readonly problems: readonly string[] };
  readonly run:
    | { readonly kind: "script"; readonly name: string; readonly text: string }
    /** Elements may hold `${args.name}` placeholders; each stays one argv element. */
    | { readonly kind: "argv"; readonly argv: readonly string[] };
  readonly env: Readonly<Record<string, string>>;
  readonly resources: {
    readonly cpus: number;
    readonly memoryMib: number | null;
    readonly walltimeSeconds: number;
    readonly gpus: number;
  };
  readonly solver: string;
  /** `total` is a number or `${args.name}`. */
  readonly progress: { readonly total: string | number | null; readonly unit: string | null };
  readonly outputs: readonly string[];
  readonly idempotency: "required" | "optional" | "arguments";
  /** Window of `idempotency: arguments`, ms from the claim. */
  readonly idempotencyWindowMs: number;
  readonly tasks: "required" | "optional";
  /** How long a task stays readable after its end. */
  readonly ttlMs: number;
  readonly options: JsonObject;
};
