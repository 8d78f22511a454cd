import { NOW } from "./fragments.lua.ts";
import { defineScript } from "./script.ts";

/** KEYS due or poll. ARGV limit, again in ms. Taking and pushing away is one step, so two workers never share a duty. */
export const TAKE_DUE = defineScript(`${NOW}
local members = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
for _, member in ipairs(members) do
  redis.call('ZADD', KEYS[1], 'XX', now + tonumber(ARGV[2]), member)
end
return members
`);

/** KEYS due, poll. ARGV set number, member, in ms, and so on. XX: a duty that was fulfilled meanwhile does not return. */
export const RESCHEDULE = defineScript(`${NOW}
for i = 1, #ARGV, 3 do
  redis.call('ZADD', KEYS[tonumber(ARGV[i])], 'XX', now + tonumber(ARGV[i + 2]), ARGV[i + 1])
end
return 'ok'
`);
