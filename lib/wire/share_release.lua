-- share_release: ends exactly this share of the name, or leaves the queue. If others share the name, it stays shared,
-- and the first waiters of the queue that may join them get their shares. If nobody is left, the first ready waiter
-- gets the name, or the first ones that may share it. Each of them is notified on its own channel. If none is ready,
-- the name is freed as by mutex_release.lua. Repeated with the same id the script ends nothing, and looks again. It
-- also ends a hold that has the name alone: a downgrade may be unanswered. A share whose lease has run out, and that
-- no script has removed since, is released like any other: nobody was let in because of that.
-- KEYS name queue token share   ARGV holder terms [place [lapsed]]   as of mutex_release.lua; ' <place>': the place to
--   leave
-- -> as of mutex_release.lua, without next | -2 ended, and others share the name
--    | '-2 <window_ms> <us> <holder>': ended, and that waiter, and perhaps others, got shares at that time
local call, pcall, name, queue, token_key, share = redis.call, redis.pcall, KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local me, terms, tag = ARGV[1], ARGV[2], string.sub(queue, $KEY_QUEUE_LENGTH + 2)
local c_channel, java_queue = '$KEY_CHANNEL:' .. tag, '$KEY_JAVA_QUEUE:' .. tag
local publish, numsub = 'PUBLISH', 'NUMSUB'
if terms > '$SHARDED' then publish, numsub = 'SPUBLISH', 'SHARDNUMSUB' end
-- include queues.lua
-- The first write is also the check; after it no server refuses a write for lack of memory.
local was_mine, sharers = pcall('HDEL', name, me), 0
if was_mine ~= 1 and was_mine ~= 0 then -- refused: if the name is free by now and has no queue, nothing is left to end
  return call('EXISTS', name, queue) == 0 and 0 or was_mine
end
was_mine = was_mine == 1
if was_mine then
  pcall('ZREM', share, me)
  sharers = call('HLEN', name) - 1
end
-- A group multilock of Redisson may have put fields of its own beside a hold that had the name alone.
local is_joined = sharers > 0 and call('HGET', name, 'mode') ~= 'shared'
local has_more, yields, places, is_left
local removed = 0
if queues > 1 then
  -- include now.lua
  local gone, with_me, has_star, heard, late, first, others, head, has_marks, has_mode = {}, false, false, nil
  local refusal, refused, token, token_us, highest, highest_us, last_us, granted_ms
  local period_us = string.match(terms, ' (%d+)') * 1000
  local held, left, chosen, is_shut, takes, mine, most, is_alone, lapsed = 0, -2, nil
  local may_grant, is_handed_over, was_first, is_cut = true, false, false, nil
  places = '$KEY_PLACE' .. string.sub(queue, $KEY_QUEUE_LENGTH + 1)
  if not was_mine or sharers > 0 then
    -- include record.lua named
    if was_mine then place = nil end
    -- include kept.lua
    left = call('PTTL', name)
    local mode = left ~= -2 and call('HGET', name, 'mode')
    if not was_mine and ARGV[4] then
      -- include lapsed.lua
    end
    if mode == 'shared' then
      -- include prune.lua
      if was_mine then sharers = held end
    elseif left ~= -2 then
      held = 1e9
      -- The first place listens for the release of another program. A waiter that leaves this place wakes the next one.
      is_shut = mode == 'mutex' or not place
      was_first = not is_shut and pcall('ZRANK', queue, place) == pcall('ZCOUNT', queue, '-inf', '(1')
    end
    if place then
      pcall('ZREM', queue, place)
      pcall('HDEL', places, me)
    end
    may_grant = left == -2 and (was_mine or kept_free_us == 0) or held > 0
  end
  if may_grant and not is_shut then
    -- include choose.lua
    -- include others.lua
  end
  -- Others get the name when nobody has it any more: it is left to them, or nobody joins meanwhile.
  if first and others > 0 and others > string.match(terms, '%d+') + 0 then
    if was_mine and left == -2 then
      -- include yield.lua
    end
    if yields or left ~= -2 then
      if left == -2 and first[2] ~= '-' then
        pcall(first[6], first[2], '$ASK_WORD ' .. first[1] .. ' $LEFT_MS: ' .. name)
      end
      is_left = yields
      first, chosen = nil, nil
    end
  end
  if first then
    local reserved = chosen and #chosen - 1 or first[4]
    -- include token.lua
    if token then
      -- include grant.lua
      is_handed_over = is_granted
    end
    if is_handed_over then
      -- include tell.lua
      local said = (was_mine and '$HANDED_OVER ' or '0 ') .. granted_ms .. ' ' .. now .. ' ' .. first[1]
      return removed > 0 and said .. ' ' .. removed or said
    end
  end
  -- include settle.lua
end
-- include looked.lua
if sharers > 0 and not is_joined then
  local said = has_more and $FREED_MORE or $HANDED_OVER
  return removed > 0 and said .. ' ' .. removed or said
end
-- include freed.lua
if has_more then freed = $FREED_MORE end
return removed > 0 and freed .. ' ' .. removed or freed
