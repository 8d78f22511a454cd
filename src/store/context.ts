import type { Redis } from "ioredis";
import type { RenderTask } from "../domain/store.ts";
import type { StoreKeys } from "./keys.ts";

/** What every call of the store needs. `maxEvents` and `maxBytes` are per task; 0 keeps all. */
export type StoreContext = {
  readonly commands: Redis;
  readonly keys: StoreKeys;
  readonly eventPrefix: string;
  readonly renderTask: RenderTask;
  readonly claimTtlMs: number;
  readonly maxEvents: number;
  readonly maxBytes: number;
};
