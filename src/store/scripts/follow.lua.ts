import { IS_OVER, NOW, PUSH_EVENTS, TAKE_LIST } from "./fragments.lua.ts";
import { defineScript } from "./script.ts";

/** KEYS task. A higher epoch shuts out whoever followed before. */
export const TAKE_OVER = defineScript(`${NOW}${IS_OVER}
local h = redis.call('HMGET', KEYS[1], 'ph', 'ex', 'rec', 'spec', 'cur', 'snap')
if not h[1] or is_over(h[1], h[2]) then return false end
return {redis.call('HINCRBY', KEYS[1], 'fe', 1), h[3], h[4], h[5], h[6]}
`);

/**
 * KEYS task, events, due.
 * ARGV id, duty member, life, epoch, cursor from, cursor to, snapshot, progress, duty in ms, nudge channel, max events,
 * max bytes; list: events.
 *
 * A flush that brings neither an event nor other progress wakes nobody: with thousands of quiet followers every process
 * would be told of each.
 */
export const APPEND = defineScript(`${NOW}${IS_OVER}${TAKE_LIST}${PUSH_EVENTS}
local had = redis.call('HMGET', KEYS[1], 'ph', 'ex', 'life', 'fe', 'cur', 'prog', 'n', 'f', 'b')
if not had[1] or is_over(had[1], had[2]) then return 'gone' end
if had[1] == 'ended' or had[3] ~= ARGV[3] or had[4] ~= ARGV[4] or had[5] ~= ARGV[5] then return 'fenced' end

at = 13
local events = take_list()
redis.call('HSET', KEYS[1], 'cur', ARGV[6], 'snap', ARGV[7], 'prog', ARGV[8], 'pat', now)
push_events(KEYS[1], KEYS[2], events, {n = had[7], f = had[8], b = had[9]},
  {events = tonumber(ARGV[11]), bytes = tonumber(ARGV[12])})
redis.call('ZADD', KEYS[3], 'XX', now + tonumber(ARGV[9]), ARGV[2])
if #events > 0 or had[6] ~= ARGV[8] then redis.call('PUBLISH', ARGV[10], ARGV[1]) end
return 'appended'
`);
