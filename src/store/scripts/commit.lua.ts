import { DUTIES, IS_OVER, NOW, PUSH_EVENTS, TAKE_LIST } from "./fragments.lua.ts";
import { defineScript } from "./script.ts";

/**
 * KEYS task, events, expiry, due, poll.
 * ARGV id, phaseRev before, epoch or '', nudge channel, max events, max bytes, record, phaseRev, phase, life, doc,
 * expiresAtMs; lists: events, due to add, poll to add, due to remove, poll to remove.
 *
 * The rendered task and the events change in one call: nobody reads the last event and then finds the task unended.
 */
export const COMMIT = defineScript(`${NOW}${IS_OVER}${TAKE_LIST}${PUSH_EVENTS}${DUTIES}
local had = redis.call('HMGET', KEYS[1], 'pr', 'ph', 'ex', 'fe', 'n', 'f', 'b')
if not had[1] or is_over(had[2], had[3]) then return 'gone' end
if had[2] == 'ended' or had[1] ~= ARGV[2] or (ARGV[3] ~= '' and had[4] ~= ARGV[3]) then return 'stale' end

at = 13
local events = take_list()
local add_due, add_poll, remove_due, remove_poll = take_list(), take_list(), take_list(), take_list()
redis.call('HSET', KEYS[1],
  'rec', ARGV[7], 'pr', ARGV[8], 'ph', ARGV[9], 'life', ARGV[10], 'doc', ARGV[11], 'ex', ARGV[12])
push_events(KEYS[1], KEYS[2], events, {n = had[5], f = had[6], b = had[7]},
  {events = tonumber(ARGV[5]), bytes = tonumber(ARGV[6])})
add_duties(KEYS[4], add_due)
add_duties(KEYS[5], add_poll)
remove_duties(KEYS[4], remove_due)
remove_duties(KEYS[5], remove_poll)
if ARGV[9] == 'ended' then redis.call('ZADD', KEYS[3], ARGV[12], ARGV[1]) end
redis.call('PUBLISH', ARGV[4], ARGV[1])
return 'committed'
`);
