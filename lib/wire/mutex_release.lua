-- mutex_release: ends exactly this hold, or leaves the queue. The first ready waiter becomes the holder and is notified
-- on its own channel, and so are the waiters behind it that may share the name with it. If no waiter is ready, the name
-- is freed and its listeners are woken. A release may also ask for the next handle of its client, under an id of its
-- own: that handle stands in the queue behind all others, or becomes the holder if there are none. Repeated with the
-- same id the script ends nothing, and looks whether the name is free, so that a grant that nobody used goes to the
-- next waiter.
-- KEYS name queue token   ARGV holder terms [place [lapsed [most_waiting]]]
--   terms: '[S]<own> <token_ttl_ms>[ <lease_ms of next>]'   S: messages go by SPUBLISH
--     own: how many listeners of the unlock channel do not count as others. If there are others, the name is freed
--       and left to them for 5 ms; with own = a million it never is
--   place: '<holder> <place>', as in mutex_acquire: the place of next. ' <place>': the place to leave. '': none
--   lapsed: '<window_ms> <holder> <us>[ <client> <us>]..': which grants were not used, and when they were made, the
--     newest first. The newest grant may still stand, because it stands a little longer than its client may rely on it:
--     then it is ended. The places of these clients that have not asked since then are removed. '': none
--   most_waiting: next gets no place while so many others have one; QUEUE_MAX (protocol.h) if it is left out
-- -> 0 not held by this id, and no longer in the queue | 1 + n freed, n listened | -1 freed, but the message was
--    refused | -3 64 places that were not ready are removed, and there are more: send it again, without next
--    | -4 freed, and left to others for 5 ms while somebody waits: look again after that
--    | '-2 <window_ms> <us> <holder>': handed over at that time. '0 ..': not held by this id; the name was free, and is
--      granted. The client that gets such an answer looks again after the window
--    | '<one of these numbers>[ <window_ms> <us> <holder>] <removed>': the same, and so many places were removed
--    | {one of these numbers but 0, and behind it what mutex_acquire answers: one or two numbers, or its list}; the
--      number alone: next was not asked for
local call, pcall, name, queue, token_key = redis.call, redis.pcall, KEYS[1], KEYS[2], KEYS[3]
local me, terms, tag = ARGV[1], ARGV[2], string.sub(queue, $KEY_QUEUE_LENGTH + 2)
local c_channel, java_queue = '$KEY_CHANNEL:' .. tag, '$KEY_JAVA_QUEUE:' .. tag
local publish, numsub = 'PUBLISH', 'NUMSUB'
if terms > '$SHARDED' then publish, numsub = 'SPUBLISH', 'SHARDNUMSUB' end
-- include queues.lua
-- The first write is also the check; after it no server refuses a write for lack of memory. HDEL and not DEL: a group
-- multilock of Redisson may have put fields of its own beside ours.
local was_mine, answer = pcall('HDEL', name, me), nil
if was_mine ~= 1 and was_mine ~= 0 then -- refused: if the name is free by now and has no queue, nothing is left to end
  return call('EXISTS', name, queue) == 0 and 0 or was_mine
end
was_mine = was_mine == 1
local has_more, yields, places, is_left
local removed = 0
if queues > 1 or ARGV[3] then
  -- include now.lua
  local gone, with_me, has_star, heard, late, first, others, head, has_marks, has_mode = {}, false, false, nil
  local refusal, refused, token, token_us, highest, highest_us, last_us, granted_ms
  local period_us = string.match(terms, ' (%d+)') * 1000
  local held, left, share, chosen, is_shut, takes, mine, most, is_alone, lapsed = 0, -2, nil
  -- A release that ended no hold asks for nothing: late bytes must not make a holder that no client knows of.
  local may_grant, is_next, is_handed_over, was_first = false, false, false, false
  -- include record.lua named
  local is_begun, is_cut = queues > 1, nil
  places = '$KEY_PLACE' .. string.sub(queue, $KEY_QUEUE_LENGTH + 1)
  if was_mine then
    -- If more than `mode` is left, such a multilock has joined us and still holds. All reads from here on are by pcall,
    -- so that the name is freed for a user without the right to them.
    local fields = pcall('HLEN', name)
    has_mode = fields == 1
    may_grant = has_mode or fields == 0
    next = may_grant and next
    is_shut = not may_grant
  else
    next = nil
    -- include kept.lua
    left = call('PTTL', name)
    local mode = left ~= -2 and call('HGET', name, 'mode')
    if ARGV[4] and ARGV[4] ~= '' then
      -- include lapsed.lua
    end
    if mode == 'shared' then
      -- the waiter that left may have been in front of others that can share the name
      share = '$KEY_SHARE' .. string.sub(queue, $KEY_QUEUE_LENGTH + 1)
      -- include prune.lua
    elseif left ~= -2 then
      held = 1e9
      -- The first place listens for the release of another program. A waiter that leaves this place wakes the next one.
      is_shut = mode == 'mutex' or not place
      was_first = not is_shut and pcall('ZRANK', queue, place) == pcall('ZCOUNT', queue, '-inf', '(1')
    end
    if place then -- so that the walk finds the next one in front. What joins that queue from here on is `*` alone
      pcall('ZREM', queue, place)
      pcall('HDEL', places, me)
    end
    may_grant = left == -2 and kept_free_us == 0 or held > 0
  end
  if may_grant and not is_shut then
    -- include choose.lua
    if next and not first and not has_more then
      local member = next
      -- include record.lua place
      first, is_next = {id, '-', string.match(terms, '%d+$'), block}, true
    end
    -- include others.lua
  end
  -- Others get the name when nobody has it any more: it is left to them, or nobody joins meanwhile.
  if first and others > 0 and others > string.match(terms, '%d+') + 0 then
    if was_mine then
      -- include yield.lua
    end
    if yields or not was_mine and left ~= -2 then
      if was_mine and first[2] ~= '-' then
        pcall(first[6], first[2], '$ASK_WORD ' .. first[1] .. ' $LEFT_MS: ' .. name)
      end
      is_left = yields and not is_next
      first, chosen, is_next = nil, nil, false
    end
  end
  if first or next then
    local stands, reserved = next and not is_next, 0
    if first then reserved = (chosen and #chosen - 1 or first[4]) + (stands and 1 or 0) end
    -- include token.lua
    if token and stands then
      -- The place is written before any other is removed: an empty queue would lose its expiry.
      local ticket, member, id, beat, refused = highest, next, nil, nil, nil
      -- include place.lua
      stands = not refused
    end
    if token and first then
      share = '$KEY_SHARE' .. string.sub(queue, $KEY_QUEUE_LENGTH + 1)
      -- include grant.lua
      is_handed_over = is_granted
    end
    if token and stands then
      -- PTTL, holder and hands_over as in mutex_acquire: granted now, or left to others for 5 ms, or to be sent again.
      local length = has_marks == false and call('ZCARD', queue) or call('ZCOUNT', queue, '1', '+inf')
      if not is_handed_over then length = length - #gone end
      if length > (ARGV[5] or $QUEUE_MAX) + 0 then
        pcall('ZREM', queue, next)
      else
        answer = {0, 1, '', $LEFT_MS, length, highest_us, length, '', now}
        if is_handed_over then
          answer[2], answer[3], answer[4] = -1 - granted_ms, first[1], $HANDS_OVER + $GRANTED_NOW
        elseif has_more then
          answer[2], answer[4] = -1, $HAS_MORE
        end
        if removed > 0 then answer[10] = removed end
      end
    elseif is_next and is_handed_over then
      answer = {0, token_us}
      if removed > 0 then answer[3] = removed end
    end
  end
  if is_handed_over then
    -- include tell.lua
    if answer then
      answer[1] = $HANDED_OVER
      return answer
    end
    local said = (was_mine and '$HANDED_OVER ' or '0 ') .. granted_ms .. ' ' .. now .. ' ' .. first[1]
    return removed > 0 and said .. ' ' .. removed or said
  end
  -- include settle.lua
end
-- include looked.lua
-- include freed.lua
if has_more then freed = $FREED_MORE end
if answer then
  answer[1] = freed
  return answer
end
return removed > 0 and freed .. ' ' .. removed or freed
