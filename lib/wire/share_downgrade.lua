-- share_downgrade: the only holder of the name goes on as one of several, without a gap: with the same id and the same
-- token. The first waiters of the queue, if they may share the name with it, get their shares. Repeated, the script
-- finds that this is done.
-- KEYS name queue token share   ARGV holder terms (as of mutex_release.lua) lease_ms fencing_token
-- -> 0 not this hold | 1 it shares the name, for lease_ms at least
--    | '1 <window_ms> <us> <holder>': the same, and that waiter, and perhaps others, got shares at that time
--    | either of the last two with ' <removed>' behind it: so many places were removed
local call, pcall, name, queue, token_key, share = redis.call, redis.pcall, KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local me, terms = ARGV[1], ARGV[2]
local fields = call('HMGET', name, me, 'mode')
if fields[1] ~= ARGV[4] or (fields[2] ~= 'mutex' and fields[2] ~= 'shared') then return 0 end
-- include now.lua
-- The number of fields tells nothing here: it is what the rest may lack the right to read, asked for before the first
-- write. So a missing right leaves everything as it was.
call('HLEN', name)
local left, held = call('PTTL', name), nil
local life_ms = math.max(left, ARGV[3])
if fields[2] == 'shared' then
  local ends = call('ZSCORE', share, me)
  if ends and ends + 0 <= now_us then return 0 end
  call('ZADD', share, 'GT', string.format('%.0f', now_us + ARGV[3] * 1000), me)
else
  call('DEL', share)
  call('ZADD', share, string.format('%.0f', now_us + life_ms * 1000), me)
  call('HSET', name, 'mode', 'shared')
end
call('PEXPIRE', name, life_ms)
call('PEXPIRE', share, life_ms)
if call('EXISTS', queue) == 0 then return 1 end

local tag, java_waiter = string.sub(queue, $KEY_QUEUE_LENGTH + 2), nil
local c_channel, java_queue = '$KEY_CHANNEL:' .. tag, '$KEY_JAVA_QUEUE:' .. tag
local numsub = terms > '$SHARDED' and 'SHARDNUMSUB' or 'NUMSUB'
local gone, with_me, has_star, heard, late, first, others, head, has_marks, has_mode = {}, false, false, nil
local refusal, refused, token, token_us, highest, highest_us, last_us, granted_ms
local period_us = string.match(terms, ' (%d+)') * 1000
local chosen, is_shut, takes, mine, most, is_alone, lapsed, is_cut, has_more
local removed, places = 0, '$KEY_PLACE' .. string.sub(queue, $KEY_QUEUE_LENGTH + 1)
left = life_ms
-- include prune.lua
-- include choose.lua
-- While other programs listen, nobody joins a shared name (mutex_acquire.lua).
if first then others = others or pcall('PUBSUB', numsub, c_channel)[2] or 0 end
if first then
  -- include java_waiter.lua
end
if java_waiter then others = others + (pcall('PUBSUB', numsub, c_channel .. ':' .. java_waiter)[2] or 0) end
if first and others <= string.match(terms, '%d+') + 0 then
  local reserved = #chosen - 1
  -- include token.lua
  if token then
    -- include grant.lua
    if is_granted then
      -- include tell.lua
      local said = '1 ' .. granted_ms .. ' ' .. now .. ' ' .. first[1]
      return removed > 0 and said .. ' ' .. removed or said
    end
  end
end
-- include leave.lua
-- include tell.lua
return removed > 0 and '1 ' .. removed or 1
