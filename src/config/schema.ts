import { z } from "zod";
import type { Json } from "../domain/json.ts";
import { Tuning } from "../domain/tuning.ts";
import { duration, Memory } from "./units.ts";

/*
 * What may stand in the configuration file, part by part. Rules that look at more than one value, at other files or at
 * the environment are with the part's own module. docs/config.md lists every key; a test holds the two together.
 */

const json = z.custom<Json>((value) => value !== undefined);
const jsonMap = z.custom<{ [key: string]: Json }>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be a map",
);
/** Numbers and switches are taken as they are written, so that `OMP_NUM_THREADS: 4` needs no quotes. */
const scalar = z.union([z.string(), z.number(), z.boolean()], {
  error: "must be text: put it in quotes",
});
const hostName = z
  .string()
  .regex(
    /^(?:[A-Za-z0-9_.-]+|\[?[0-9A-Fa-f:.]+\]?)$/,
    "must be a host name or an address, without scheme or port",
  );

export const StoreFile = z.strictObject({
  url: z.string().optional(),
  urlEnv: z.string().min(1).optional(),
  urlFile: z.string().min(1).optional(),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{0,32}\{[A-Za-z0-9_-]{1,32}\}$/, "must hold a hash tag, like {tr} or lab-{tr}")
    .default("{tr}"),
  eventPrefix: z
    .string()
    .regex(/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/, "must be a domain name read backwards, like org.example")
    .max(100)
    .default("dev.tailrace"),
  durability: z.enum(["strict", "relaxed"]).default("strict"),
  claimTtl: duration({ leastMs: 3_600_000 }).prefault("400d"),
});

export const ListenFile = z.strictObject({
  host: hostName.default("127.0.0.1"),
  port: z.int().min(0).max(65_535).default(7717),
  allowedHosts: z
    .union([z.literal("any"), z.array(hostName)], { error: "must be `any` or a list of host names" })
    .default([]),
  allowedOrigins: z.array(hostName).default([]),
});

export const LimitsFile = z.strictObject({
  inlineWait: duration({ leastMs: 0 }).prefault("20s"),
  streamsPerCaller: z.int().min(1).max(100_000).default(64),
  streamsPerTask: z.int().min(1).max(100_000).default(16),
});

export const TokenFile = z.strictObject({
  name: z
    .string()
    .regex(/^[\p{L}\p{N}][\p{L}\p{N} @._-]{0,63}$/u, "must be 1 to 64 letters, digits, spaces or @._-"),
  env: z.string().min(1).optional(),
  file: z.string().min(1).optional(),
  sha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, "must be 64 hexadecimal digits: the sha256 of the token")
    .optional(),
});

export const AuthFile = z.strictObject({ tokens: z.array(json).min(1) });

export const ConfigFile = z.strictObject({
  instance: z
    .string()
    .regex(/^[a-z0-9]{1,16}$/, "must be 1 to 16 of a-z and 0-9")
    .optional(),
  stateDir: z.string().min(1).optional(),
  store: json.optional(),
  listen: json.optional(),
  auth: json.optional(),
  limits: json.optional(),
  targets: jsonMap.optional(),
  tools: jsonMap.optional(),
  tuning: Tuning.prefault({}),
});

/** The part of a target that is the same for every scheduler; the rest is the scheduler's own. */
export const TargetFile = z.object({ scheduler: z.string().min(1), defaults: jsonMap.default({}) });

export const RunFile = z.strictObject({
  script: z.string().min(1).optional(),
  argv: z.array(scalar).min(1).optional(),
});

export const ResourcesFile = z.strictObject({
  cpus: z.int().min(1).max(1_000_000).default(1),
  memory: Memory.optional(),
  walltime: duration({ leastMs: 1000 }).optional(),
  gpus: z.int().min(0).max(100_000).default(0),
});

export const ProgressFile = z.strictObject({
  total: z
    .union([z.number().positive(), z.string()], {
      error: `must be a number above 0, or "\${args.<name>}" of a number`,
    })
    .optional(),
  unit: z.string().min(1).max(32).optional(),
});

export const ToolFile = z.strictObject({
  title: z.string().min(1).max(200).optional(),
  description: z.string().min(1).max(10_000),
  target: z.string().optional(),
  input: jsonMap.optional(),
  inputSchema: jsonMap.optional(),
  output: jsonMap.optional(),
  run: z.custom<Json>((value) => value !== undefined, "is missing: give { script: … } or { argv: [ … ] }"),
  env: z.record(z.string(), scalar).default({}),
  resources: json.optional(),
  solver: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "must be the name of a translator, or auto")
    .default("auto"),
  progress: json.optional(),
  outputs: z.array(z.string().min(1)).max(1000).default([]),
  idempotency: z.enum(["required", "optional", "arguments"]).default("optional"),
  idempotencyWindow: duration({ leastMs: 1000 }).optional(),
  tasks: z.enum(["required", "optional"]).default("optional"),
  ttl: duration({ leastMs: 60_000 }).prefault("7d"),
  options: jsonMap.default({}),
});
