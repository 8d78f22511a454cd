/**
 * Pieces that several scripts share. The scripts' first write is always one that Redis refuses when its memory is full:
 * once a script has written anything the rest is let through, so nothing is ever half done.
 */

/** `now`: ms since the epoch by the server's clock. Fits a double exactly. */
export const NOW = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
`;

/** A task is over when it has ended and its time has passed; a living task never is, however late its extension comes. */
export const IS_OVER = `
local function is_over(ph, ex)
  return ph == 'ended' and tonumber(ex) <= now
end
`;

/** Reads the lists at the tail of ARGV one after the other. Set `at` to the index of the first length. */
export const TAKE_LIST = `
local at
local function take_list()
  local count = tonumber(ARGV[at])
  local items = {}
  for i = 1, count do items[i] = ARGV[at + i] end
  at = at + count + 1
  return items
end
`;

/**
 * Appends events with dense seqs and keeps the counters right. RPUSH goes in pieces because Lua's stack holds a few
 * thousand values. Caps of 0 trim nothing; the newest event always stays.
 */
export const PUSH_EVENTS = `
local function push_events(task, events, items, count, caps)
  local n, f, b = tonumber(count.n), tonumber(count.f), tonumber(count.b)
  for i = 1, #items, 200 do
    redis.call('RPUSH', events, unpack(items, i, math.min(i + 199, #items)))
  end
  for _, text in ipairs(items) do b = b + #text end
  n = n + #items
  while n - f > 1 and ((caps.events > 0 and n - f > caps.events) or (caps.bytes > 0 and b > caps.bytes)) do
    b = b - #redis.call('LPOP', events)
    f = f + 1
  end
  redis.call('HSET', task, 'n', n, 'f', f, 'b', b)
end
`;

/** New duties are due at once. */
export const DUTIES = `
local function add_duties(key, members)
  for _, member in ipairs(members) do redis.call('ZADD', key, now, member) end
end
local function remove_duties(key, members)
  for _, member in ipairs(members) do redis.call('ZREM', key, member) end
end
`;
