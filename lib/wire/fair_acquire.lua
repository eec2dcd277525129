-- fair_acquire: become the holder of a FAIR lock, or stand in its queue. Said again by the same holder it is the waiter's heartbeat: it keeps
-- the place, and finds a grant whose push was lost. Whoever finds the name free grants it to the first who is ready, on whoever's behalf.
-- KEYS name queue waiters token
-- ARGV holder lease_ms window_ms alive_ms number ticket channel is_waiting not_after_ms token_life_ms
--   number: of this heartbeat, never used twice; a grant names the one it counts from   ticket: 0, or the one it had (data may have been lost)
--   is_waiting: 1; 0 is a try, which never stands in the queue and never jumps it
-- -> {1, token} ours, for lease_ms at least | {0, PTTL, place, ticket, hands_over, holder, length} | error LATE seconds microseconds
--    | error BADTOKEN
--   place: 1 is next, 0 not in the queue   hands_over: 1, the holder's release grants; 0, a kind that does not know the queue holds it
--   holder: '' free; PTTL is then how long it is kept free for other kinds
-- include fair_queue.lua
local lease_ms, window_ms, alive_ms = tonumber(ARGV[2]), ARGV[3], ARGV[4]
local not_after_ms, token_life_ms = tonumber(ARGV[9]), ARGV[10]
local left, hands_over, held_by = call('PTTL', name), 1, ''
if left ~= -2 then
  -- include holder.lua
  if mine then
    -- in any case, for WAIT confirms only what is written
    call('PEXPIRE', name, math.max(left, lease_ms))
    return {1, tonumber(mine)}
  end
  held_by = holder or ''
  hands_over = string.sub(held_by, -5) == ':fair' and 1 or 0
end
if not_after_ms > 0 and now_us > not_after_ms * 1000 then
  return redis.error_reply('LATE ' .. time[1] .. ' ' .. time[2])
end

local waiting = call('ZCARD', queue)
local mine, kept_free_ms = nil, 0
if waiting > 0 then
  mine = call('ZSCORE', queue, me)
  if left == -2 then
    -- include fair_kept.lua
  end
end
local ticket = tonumber(mine or ARGV[6])
local with_me, is_granted, has_more = true, false, false
local first, token, refusal, refused
local reserved = 0
if left == -2 and kept_free_ms == 0 then
  -- include fair_next.lua
  if has_more then
    -- include fair_leave.lua
    return {0, 0, 0, ticket, 1, '', waiting - #gone}
  end
  -- include token.lua
  if not token then return refusal end
  -- mine, though the queue has forgotten me, if my ticket is older than the first one in it
  if not first or first[1] == me or (not mine and ticket > 0 and ticket < tonumber(call('ZSCORE', queue, first[1]))) then
    local id, span_ms = me, ARGV[2]
    -- include hold.lua
    if type(refused) == 'table' then return refused end
    if mine then gone[#gone + 1] = me end
    -- include fair_leave.lua
    return {1, tonumber(token)}
  end
end

local is_last = ticket == 0
if ARGV[8] == '1' then
  if is_last then
    local last = tonumber(call('ZREVRANGE', queue, '0', '0', 'WITHSCORES')[2] or 0)
    ticket = math.max(now_us, last + 1)
  end
  local asked_ms, dead_ms = string.format('%d', math.ceil(now_us / 1000)), string.format('%d', 2 * alive_ms)
  -- before the queue, which was read: W may be another program's key, and then nobody may be left in a queue without an expiry
  call('HSET', waiters, me, asked_ms .. ' ' .. alive_ms .. ' ' .. ARGV[5] .. ' ' .. ARGV[2] .. ' ' .. ARGV[7])
  if not mine then
    call('ZADD', queue, string.format('%d', ticket), me)
    waiting = waiting + 1
  end
  local expires = redis.pcall('PEXPIRE', queue, dead_ms)
  if type(expires) == 'table' then -- who may not set an expiry stands in no queue without one
    if not mine then
      call('ZREM', queue, me)
      call('HDEL', waiters, me)
    end
    return expires
  end
  call('PEXPIRE', waiters, dead_ms)
end
if first then
  -- include fair_grant.lua
  if not is_granted then return refused end
  waiting = waiting - #gone + 1
  left, hands_over, held_by = tonumber(granted_ms), 1, first[1]
end
if left == -2 then left = kept_free_ms end
local place = waiting
if ARGV[8] ~= '1' or not is_last then place = (call('ZRANK', queue, me) or -1) + 1 end
return {0, left, place, ticket, hands_over, held_by, waiting}
