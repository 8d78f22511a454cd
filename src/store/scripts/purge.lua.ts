import { IS_OVER, NOW } from "./fragments.lua.ts";
import { defineScript } from "./script.ts";

/** KEYS expiry. ARGV limit. */
export const EXPIRED = defineScript(`${NOW}
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
`);

/**
 * KEYS task, events, claim, owner index, target index, expiry. ARGV id, claimTtlMs, nudge channel.
 *
 * Only an ended task can be over, and ending removed its duties. Begins with a delete, so that it works in a full store:
 * it is the way out of that. The claim becomes a tombstone for claimTtlMs, or until its window is over; a claim that has
 * gone to a newer task stays as it is.
 */
export const PURGE = defineScript(`${NOW}${IS_OVER}
local h = redis.call('HMGET', KEYS[1], 'ph', 'ex')
if not h[1] then
  redis.call('ZREM', KEYS[6], ARGV[1])
  return 'gone'
end
if not is_over(h[1], h[2]) then return 'alive' end
redis.call('UNLINK', KEYS[1], KEYS[2])
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('ZREM', KEYS[5], ARGV[1])
redis.call('ZREM', KEYS[6], ARGV[1])
redis.call('PUBLISH', ARGV[3], ARGV[1])
local claim = redis.call('HMGET', KEYS[3], 'id', 'until')
if claim[1] ~= ARGV[1] then return 'purged' end
local keep = tonumber(ARGV[2])
if claim[2] then keep = math.min(keep, tonumber(claim[2]) - now) end
if keep <= 0 then
  redis.call('DEL', KEYS[3])
else
  redis.call('HDEL', KEYS[3], 'id')
  redis.call('HSET', KEYS[3], 'gone', h[2])
  redis.call('PEXPIRE', KEYS[3], keep)
end
return 'purged'
`);
