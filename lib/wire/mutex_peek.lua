-- mutex_peek: reads the holder and the queue of a name. It changes nothing.
-- KEYS name queue   ARGV '<holder> <place>', whose position is asked for; '': none is   ['all']: the holders are
--   listed behind the answer (listed.lua)
-- -> {PTTL, holder, what, length of the queue, position of ARGV's place in it: 1 is next, 0 not in it, holders, ready}
--   PTTL: -2: the name is free; -1: it is held without an expiry. Of a shared name PTTL and holder are those of the
--     share that lasts longest
--   holder: '': there is none; the holder of 'other' is unknown
--   what: see what.lua. Only 'mutex', 'shared' and 'rlock' may be ended by force
--   ready: how many of the first 64 waiters are ready
local call, name, queue, me = redis.call, KEYS[1], KEYS[2], nil
local answer, share, now_us
local left, length, place = call('PTTL', name), call('ZCOUNT', queue, '1', '+inf'), 0
if ARGV[1] ~= '' and call('ZSCORE', queue, ARGV[1]) then
  place = call('ZRANK', queue, ARGV[1]) + 1 - call('ZCOUNT', queue, '-inf', '(1')
end
-- include waiting.lua
if left == -2 then return {left, '', '', length, place, 0, ready} end
local mine, mode, holder, seen
-- include holder.lua
-- include what.lua
if what == 'shared' then
  local time = call('TIME')
  now_us = time[1] * 1000000 + time[2]
  share = '$KEY_SHARE' .. string.sub(queue, $KEY_QUEUE_LENGTH + 1)
  local last = redis.pcall('ZRANGE', share, '-1', '-1', 'WITHSCORES')
  local over = redis.pcall('ZCOUNT', share, '-inf', string.format('%.0f', now_us))
  local held = call('HLEN', name) - 1 - (tonumber(over) or 0)
  if last[1] then holder, left = last[1], math.ceil((last[2] - now_us) / 1000) end
  if held < 1 then return {-2, '', '', length, place, 0, ready} end
  answer = {left, holder or '', what, length, place, held, ready}
else
  answer = {left, what ~= 'other' and holder or '', what, length, place, holder and 1 or 0, ready}
end
if ARGV[2] then
  -- include listed.lua
end
return answer
