-- mutex_acquire: makes the caller the holder of a MUTEX or a FAIR lock, or one of several holders, or puts it into the
-- queue. Repeated by the same holder, the script is the heartbeat of its place: it keeps the place, removes those
-- places in front that are not ready, and finds a grant whose push was lost. If the first waiter of the queue could
-- have the name, the script grants it to that waiter; if several waiters that follow each other may share the name, it
-- grants to all of them.
-- KEYS name queue token [share]   ARGV holder lease_ms asks draw [sharing]
-- Only a request that shares names `share`. In a cluster the heartbeat of any other request has the key of the places
-- as its fourth key, because it may make that key.
-- Layout: Redisson's RLock (a hash: holder -> value, PTTL = lease) with two changes of ours. The value is the fencing
-- token. A second field `mode` keeps Redisson's read/write lock out of the hash. The mode `mutex` stands for one
-- holder. The mode `shared` stands for several: then the PTTL is the longest lease, and the sorted set `share` has the
-- end of the lease of each holder.
--   asks: '<not_after_us, 16 digits>[ <ticket> <place>[; <beat>]]'. Without the bracket it is a try, which takes no
--     place and does not pass the queue. With ' *' it is a guest: like a try, but it may take a name that is left to
--     other kinds.
--     ticket: the ticket that the waiter has. -n: it has none yet, and gets none while n others have one. 0: the same
--       with n = QUEUE_MAX (protocol.h)
--     place: '1 <channel> <due> <window_ms> <reserved> <most>[ later words]'. A holder never has another place text
--       1: the version of these words; a place of another version is left alone
--       channel: where the grant is pushed; !x: the sharded channel x; -: the waiter polls
--       due: the next heartbeat comes before the end of this second of the server, as the client knows its clock; ten
--         digits
--       window_ms: how long a pushed grant stands
--       most: how many may hold the name together with this holder, itself included; 1: it wants the name alone
--     beat: '<number> <due> <channel> <window_ms>[ later words]': what is true from now on. Without a beat this is
--       the first question of this holder, its number is 1, and the words of the place are true
--       number: the number of this heartbeat, never used twice
--       channel: ~: the waiter polls and is the first; it is ready, because it looks in short steps. -: it polls and
--         is not the first
--   draw: token_ttl_ms * 1000 + reserved, where reserved is below 1000. These are one argument, because each argument
--     costs half a command
--   sharing: '[S]<most>': the caller may hold the name with others, up to <most> in all. S: channels are sharded
-- -> token (the name is ours, for lease_ms at least) | {token, removed}
--    | {-1 - PTTL, holder, hands_over, place, ticket, length[, java_waiter or holders[, now[, removed]]]}
--    | error LATE seconds microseconds | error BADTOKEN
--   hands_over: 1: the release of the holder hands over. 0: another program holds, so listen to the unlock channel. 2
--     more: there are more waiters in front that are not ready, so ask again at once. 4 more: this call has granted the
--     name to the holder in the answer, so look again when its PTTL is over
--   place: 1: next; 0: not in the queue
--   java_waiter: another program holds, and its release wakes this waiter, the first of Redisson's fair queue; '':
--     there is none
--   holders: how many share the name. PTTL and holder are those of the share whose end would let the caller in
--   now: the server's time in microseconds; present if hands_over includes 4 or something was removed
--   removed: how many places this call removed, and why (choose.lua makes the sum); absent if none
--   PTTL -2: there is no holder; the name is left to others for hands_over ms
-- queue: a ZSET, ticket -> '<holder> <place>'. Tickets and tokens are drawn from one counter, so a later waiter has a
-- higher ticket, even if the clock steps back. The member '*' with the score -until_us leaves a free name to others
-- until then.
-- places: a HASH, holder -> '1 <asked_us> <beat>', the latest heartbeat of each holder. Without a field the holder has
-- asked once, when its ticket was drawn. The field '*' has how often a free name was left to others in vain.
-- Nothing removes the last member of the queue before the end of a script: the key would lose its expiry.
-- Cost: a free name must be granted in the fewest steps. Defining a function in each run costs as much as half a
-- command, and so does printing a number, also a number that is passed to a command. So shared steps (choose, grant,
-- token, hold) are included as text, numbers are passed as text where possible, and texts are compared as they are. The
-- key of the places is not among KEYS: as a key it would cost each free name more than its name costs here, where it is
-- needed.
local call, pcall, name, queue, token_key, share = redis.call, redis.pcall, KEYS[1], KEYS[2], KEYS[3]
local me, asks, most = ARGV[1], ARGV[3], ARGV[5]
local is_alone, there, may_take_left, held_by, hands_over, held, removed, lapsed
local left = -2
if most then
  share = KEYS[4]
  is_alone = call('EXISTS', name, queue, share) == 0
else
  there = call('EXISTS', name, queue)
  is_alone = there == 0
end
-- include now.lua
if not is_alone then
  may_take_left, held_by, hands_over, held, removed = string.byte(asks, $NOT_AFTER_DIGITS + 2) == $GUEST, '', 0, 0, 0
  left = call('PTTL', name)
  if left ~= -2 then
    local mine, mode, holder, seen
    if most then
      local fields = call('HMGET', name, me, 'mode')
      mine, mode = fields[1], fields[2]
    end
    if mode ~= 'shared' or left == -1 then
      -- include holder.lua
    end
    -- no hash of ours lives for ever: what has no expiry is another program's, whatever its mode
    if mode == 'shared' and left ~= -1 then
      share = share or '$KEY_SHARE' .. string.sub(queue, $KEY_QUEUE_LENGTH + 1)
      -- include prune.lua
    end
    if mine then
      -- written in any case, because WAIT confirms only writes
      if held > 0 then
        call('ZADD', share, 'GT', string.format('%.0f', now_us + ARGV[2] * 1000), me)
        call('PEXPIRE', share, math.max(left, ARGV[2]))
      end
      call('PEXPIRE', name, math.max(left, ARGV[2]))
      return tonumber(mine)
    end
    if left ~= -2 then
      held_by = holder or ''
      hands_over = (mode == 'mutex' or held > 0) and $HANDS_OVER or 0
      if may_take_left then return {-1 - left, held_by, hands_over, 0, 0, 0} end
    end
  end
end
-- Late bytes of an old link must not make a holder that no client knows of. A later time is a greater text: it has
-- sixteen digits as well, or fewer and no zero in front.
if now > asks and now_us > tonumber(string.sub(asks, 1, $NOT_AFTER_DIGITS)) then
  return redis.error_reply('$ERROR_LATE ' .. time[1] .. ' ' .. time[2])
end

local draw = ARGV[4] + 0
local reserved = draw % $RESERVED_END
local period_us = draw - reserved
local answer, gone, heard, late
local refusal, refused, token, token_us, highest, highest_us, last_us, granted_ms
local chosen, is_shut, takes, has_star, has_marks, has_mode, has_more, is_cut, others, first, head, places
if not is_alone then
  gone = {}
  -- The queue is read before the first write, so that a key of another type is refused here. A score below 1 belongs to
  -- no place. If only one of the two keys exists, and it is the name, there is no queue.
  local length = there == 1 and left ~= -2 and 0 or call('ZCOUNT', queue, '1', '+inf')
  local id, is_begun, kept_free_ms = me, length > 0, 0
  -- include record.lua asked
  local with_me = ticket ~= nil
  local numsub = 'NUMSUB'
  if most and most > '$SHARDED' then most, numsub = string.sub(most, 2), 'SHARDNUMSUB' end
  local is_beat = beat and ticket ~= '0'
  if beat or most or left == -2 or hands_over == 0 then
    places = '$KEY_PLACE' .. string.sub(queue, $KEY_QUEUE_LENGTH + 1)
  end
  if is_beat then
    -- The place is written before the walk, which needs it in its order: the queue may have lost it.
    -- include place.lua
    if refused then return refused end
    length = length + is_added
  end
  local is_shared = held > 0
  -- Pollers are many and ask often: while the name is held, those far behind leave the walk to others.
  if left == -2 or is_beat and not is_far or is_shared and most then
    local tag = string.sub(queue, $KEY_QUEUE_LENGTH + 2)
    local c_channel, java_queue = '$KEY_CHANNEL:' .. tag, '$KEY_JAVA_QUEUE:' .. tag
    if left == -2 then
      -- include kept.lua
      kept_free_ms, is_shut = may_take_left and 0 or math.ceil(kept_free_us / 1000), kept_free_us > 0
      takes = may_take_left and is_shut
    elseif is_shared then
      -- Other programs get the name only when nobody holds it, so nobody joins while they listen.
      is_shut = (pcall('PUBSUB', numsub, c_channel)[2] or 0) > 0
      if not is_shut then
        local java_waiter
        -- include java_waiter.lua
        is_shut = java_waiter and (pcall('PUBSUB', numsub, c_channel .. ':' .. java_waiter)[2] or 0) > 0
      end
    else
      held = 1e9
    end
    if not is_shut then
      -- include choose.lua
      if first and first[1] == me then
        first, takes = nil, true
      elseif not takes and not is_shut and not (is_cut and (chosen or has_more)) and held < (most or 1) + 0 then
        takes = true
        if most then
          chosen = chosen or {}
          chosen[#chosen + 1] = {me, '-', ARGV[2], 0, nil, nil, most, false}
        end
      end
    end
    if not is_shared and left ~= -2 then held = 0 end
  end

  if not takes then
    -- The caller does not get the name now. One draw from the counter gives the token of the first waiter or of all
    -- that are chosen, then the tokens that they reserve, and then a new ticket.
    local is_new, java_waiter, is_granted_now = ticket == '0', nil, false
    local is_early = is_new and has_more and left == -2 and not first
    if is_early or is_new and most_waiting and length - #gone >= most_waiting and not call('ZSCORE', queue, member) then
      -- Nobody ready was found yet, so the caller gets no ticket: it asks again at once, and stands behind those that
      -- are left. Or the queue is full.
      is_new, ticket = false, nil
    end
    if is_new or first then
      reserved = is_new and first and 1 or 0
      if first then reserved = reserved + (chosen and #chosen - 1 or first[4]) end
      -- include token.lua
      if not token then return refusal end
    end
    if is_new then
      ticket = highest
      -- include place.lua
      if refused then return refused end
      length, is_new = length + is_added, is_added == 1
      if not is_new then ticket = call('ZSCORE', queue, member) end
    end
    local taken = #gone
    if first then
      share = share or '$KEY_SHARE' .. string.sub(queue, $KEY_QUEUE_LENGTH + 1)
      -- include grant.lua
      if not is_granted then return refused end
      left, held_by, hands_over, is_granted_now = math.max(left, granted_ms), first[1], $HANDS_OVER + $GRANTED_NOW, true
      taken = #gone - (has_star and 1 or 0)
    else
      -- include leave.lua
    end
    length = length - taken
    -- include tell.lua
    if held > 0 then
      -- The answer names the share whose end would let the caller in: the last one, if it wants the name for itself.
      local at = most and held >= most + 0 and held - most or -1
      local ends = pcall('ZRANGE', share, at, at, 'WITHSCORES')
      if ends[1] and not is_granted_now then
        held_by, left = ends[1], math.max(math.ceil((ends[2] - now_us) / 1000), 0)
      end
      java_waiter = held
    elseif left ~= -2 and hands_over == 0 then
      -- Another program holds now. So the name is not left to such programs any longer; the next release leaves it to
      -- them again. The release of that program looks at no queue of ours: the first place listens for it.
      pcall('ZREM', queue, '*')
      pcall('HDEL', places, '*')
      local java_queue = '$KEY_JAVA_QUEUE:' .. string.sub(queue, $KEY_QUEUE_LENGTH + 2)
      -- include java_waiter.lua
    end
    if has_more then
      hands_over = hands_over + $HAS_MORE
      if left == -2 then left, kept_free_ms = 0, hands_over end
    end
    local stands = 0
    if is_new then
      stands = length
    elseif ticket then
      -- the position counts from the first member whose score is that of a place
      local rank = call('ZRANK', queue, member)
      stands = rank and rank + 1 - call('ZCOUNT', queue, '-inf', '(1') or 0
    end
    answer = {-1 - left, held_by, left == -2 and kept_free_ms or hands_over, stands, tonumber(ticket or 0), length,
      java_waiter}
    if is_granted_now or removed > 0 then answer[7], answer[8] = java_waiter or '', now end
    if removed > 0 then answer[9] = removed end
    return answer
  end
  if ticket then
    gone[#gone + 1] = member
    heard = heard or {}
    heard[#heard + 1] = me
  end
  if has_star then gone[#gone + 1] = '*' end
elseif most then
  chosen, removed = {{me, '-', ARGV[2], 0, nil, nil, most, false}}, 0
end

if chosen then
  reserved = #chosen - 1
  -- include token.lua
  if not token then return refusal end
  share = share or KEYS[4]
  local own
  for i = 1, #chosen do
    if chosen[i][1] == me then own = chosen[i] end
  end
  gone = gone or {}
  -- include grant.lua
  if not is_granted then return refused end
  token_us = tonumber(own[8])
  if removed > 0 then return {token_us, removed} end
  return token_us
end
local id, span_ms = me, ARGV[2]
-- include token.lua
if not token then return refusal end
-- include hold.lua
if refused then return refused end
if gone then
  -- include leave.lua
  -- include keep.lua
  -- include tell.lua
  if removed > 0 then return {token_us, removed} end
end
return token_us
