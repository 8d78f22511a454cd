/**
 * The key schema. Everything lives under one hash tag, so that each script touches one slot of a Cluster. BullMQ's queues
 * share the tag (`{tr}:<queue>:…`): no queue may be called like one of the parts below.
 *
 * | key | type | content |
 * |---|---|---|
 * | `t:<id>` | hash | `rec` record JSON · `pr` phaseRev · `ph` phase · `life` · `ow` owner · `tg` target · `doc` rendered task · `spec` JSON · `ca` createdAtMs · `ex` expiresAtMs · `n` next seq · `f` first kept seq · `b` bytes of events · `fe` follow epoch · `cur` follower's cursor · `snap` its state · `prog` newest progress JSON · `pat` when that was, ms · `ik` claim · `ah` hash of the arguments |
 * | `e:<id>` | list | event texts; element k is seq f + k |
 * | `i:<claim>` | hash | `id`, `ah`, `until` (ms, only with a window); a tombstone has `gone` (ms of expiry) instead of `id` |
 * | `exp` | zset | ended tasks → ms when they may go |
 * | `o:<owner>`, `g:<target>` | zset | ids → µs of creation |
 * | `due:<target>`, `poll:<target>` | zset | duty members → ms when due; `poll` holds the watch duties |
 * | `nudge` | channel | the id of a task that changed |
 * | `schema` | string | version of this schema |
 */
export type StoreKeys = ReturnType<typeof storeKeys>;

export const DEFAULT_PREFIX = "{tr}";

export function storeKeys(prefix: string) {
  return {
    task: (id: string) => `${prefix}:t:${id}`,
    events: (id: string) => `${prefix}:e:${id}`,
    claim: (claim: string) => `${prefix}:i:${claim}`,
    owner: (owner: string) => `${prefix}:o:${owner}`,
    target: (target: string) => `${prefix}:g:${target}`,
    due: (target: string) => `${prefix}:due:${target}`,
    poll: (target: string) => `${prefix}:poll:${target}`,
    expiry: `${prefix}:exp`,
    nudge: `${prefix}:nudge`,
    schema: `${prefix}:schema`,
  } as const;
}
