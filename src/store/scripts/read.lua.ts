import { IS_OVER, NOW } from "./fragments.lua.ts";
import { defineScript } from "./script.ts";

/** KEYS task. ARGV names of fields. False when the task is missing or over, else the fields, then `now`. */
export const READ_FIELDS = defineScript(`${NOW}${IS_OVER}
local life = redis.call('HMGET', KEYS[1], 'ph', 'ex')
if not life[1] or is_over(life[1], life[2]) then return false end
local fields = redis.call('HMGET', KEYS[1], unpack(ARGV))
fields[#ARGV + 1] = now
return fields
`);

/** KEYS tasks. One record or false for each. */
export const READ_RECORDS = defineScript(`${NOW}${IS_OVER}
local records = {}
for i, key in ipairs(KEYS) do
  local h = redis.call('HMGET', key, 'ph', 'ex', 'rec')
  records[i] = h[1] and not is_over(h[1], h[2]) and h[3] or false
end
return records
`);

/** KEYS task. Whether a claim's task is over: its time of expiry, '' while it lives, false when it is not there. */
export const READ_EXPIRY = defineScript(`${NOW}${IS_OVER}
local h = redis.call('HMGET', KEYS[1], 'ph', 'ex')
if not h[1] then return false end
return is_over(h[1], h[2]) and h[2] or ''
`);

/**
 * KEYS task, events. ARGV after or '', limit, max bytes.
 * {owner, phase, next seq, first kept seq, seq of the first event returned, event…}. A page ends before the byte cap,
 * but holds one event at least; the list is read in pieces so that big events do not pile up here first.
 */
export const READ_EVENTS = defineScript(`${NOW}${IS_OVER}
local h = redis.call('HMGET', KEYS[1], 'ow', 'ph', 'ex', 'n', 'f')
if not h[1] or is_over(h[2], h[3]) then return false end
local n, f = tonumber(h[4]), tonumber(h[5])
local start = f
if ARGV[1] ~= '' then start = math.max(tonumber(ARGV[1]) + 1, 0) end
local page = {h[1], h[2], n, f, start}
if start < f then return page end

local stop = math.min(n, start + tonumber(ARGV[2]))
local bytes, max_bytes = 0, tonumber(ARGV[3])
for from = start, stop - 1, 50 do
  local piece = redis.call('LRANGE', KEYS[2], from - f, math.min(from + 50, stop) - 1 - f)
  for _, text in ipairs(piece) do
    bytes = bytes + #text
    if bytes > max_bytes and #page > 5 then return page end
    page[#page + 1] = text
  end
end
return page
`);
