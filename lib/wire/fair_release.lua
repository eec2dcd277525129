-- fair_release: end exactly this hold or this wait. The first waiter who is ready is made the holder, and told so on his own channel; if there
-- is none the name is freed, and whoever listens for that is woken.
-- KEYS name queue waiters token
-- ARGV holder window_ms channel publish_command yields_ms numsub_word token_life_ms
--   yields_ms: 0, or for how long the name is left to other kinds, if any of them listens   numsub_word: how listeners of `channel` are counted,
--   '' if the count would mean nothing: somebody may listen
-- -> 0 not held by this id, and not in the queue any more | 1 freed | 2 handed over | -1 freed, but the message was refused
-- include fair_queue.lua
local window_ms, channel, yields_ms, token_life_ms = ARGV[2], ARGV[3], ARGV[5], ARGV[7]
local with_me, is_granted, has_more = false, false, false
local first, token, refusal, refused
local reserved, kept_free_ms = 0, 0

-- before the first write: it reads what may be another program's key, and what fails must leave the hold as it was
-- include fair_next.lua
-- HDEL, not DEL: a group multilock of Redisson may have put fields of its own beside ours
local was_mine = call('HDEL', name, me) == 1
if was_mine then
  -- more than `mode` is left: such a multilock, which joined us, goes on holding
  if first and call('HLEN', name) > 1 then first = nil end
else -- who holds is not in the queue
  if call('ZSCORE', queue, me) then gone[#gone + 1] = me end
  -- include fair_kept.lua
  if kept_free_ms > 0 or call('PTTL', name) ~= -2 then first = nil end
end
if first and was_mine and yields_ms ~= '0' and (ARGV[6] == '' or (redis.pcall('PUBSUB', ARGV[6], channel)[2] or 0) > 0) then
  call('HSET', waiters, '*', string.format('%d', now_ms + yields_ms))
  if first[5] ~= '' then redis.pcall(first[6], first[5], 'F ' .. first[1] .. ' ' .. yields_ms) end
  first = nil
end
if first then
  -- include token.lua
  if token then
    -- include fair_grant.lua
  end
end
if is_granted then return was_mine and 2 or 0 end

-- include fair_leave.lua
if not was_mine then return 0 end
call('HDEL', name, 'mode')
return type(redis.pcall(ARGV[4], channel, '0')) == 'table' and -1 or 1
