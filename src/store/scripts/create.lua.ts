import { DUTIES, NOW, PUSH_EVENTS, TAKE_LIST } from "./fragments.lua.ts";
import { defineScript } from "./script.ts";

/**
 * KEYS claim, task, events, owner index, target index, due, poll.
 * ARGV id, claim, argsHash, windowMs or '', record, phaseRev, phase, life, owner, target, doc, spec, createdAtMs,
 * expiresAtMs; lists: events, due members, poll members.
 *
 * Looks at the claim first: a tombstone or a living claim answers, whatever else is in the request. A claim whose window
 * is over is free again, tombstone or not. `existing` leaves to the caller whether that task's time is over, because its
 * key is not known before the claim is read.
 */
export const CREATE = defineScript(`${NOW}${TAKE_LIST}${PUSH_EVENTS}${DUTIES}
local claim = redis.call('HMGET', KEYS[1], 'id', 'ah', 'until', 'gone')
if (claim[1] or claim[4]) and not (claim[3] and tonumber(claim[3]) <= now) then
  if claim[4] then return {'expired', claim[4]} end
  if claim[2] ~= ARGV[3] then return {'conflict'} end
  return {'existing', claim[1]}
end
if redis.call('EXISTS', KEYS[2]) == 1 then return {'clash'} end

at = 15
local events, due, poll = take_list(), take_list(), take_list()
redis.call('HSET', KEYS[2],
  'ik', ARGV[2], 'ah', ARGV[3], 'rec', ARGV[5], 'pr', ARGV[6], 'ph', ARGV[7], 'life', ARGV[8], 'ow', ARGV[9],
  'tg', ARGV[10], 'doc', ARGV[11], 'spec', ARGV[12], 'ca', ARGV[13], 'ex', ARGV[14], 'fe', 0, 'cur', '')
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'id', ARGV[1], 'ah', ARGV[3])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'until', now + tonumber(ARGV[4])) end
push_events(KEYS[2], KEYS[3], events, {n = 0, f = 0, b = 0}, {events = 0, bytes = 0})
local born = clock[1] * 1000000 + clock[2]
redis.call('ZADD', KEYS[4], born, ARGV[1])
redis.call('ZADD', KEYS[5], born, ARGV[1])
add_duties(KEYS[6], due)
add_duties(KEYS[7], poll)
return {'created'}
`);
