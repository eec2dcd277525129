-- mutex_acquire: become the holder of a MUTEX or a FAIR lock, or stand in its queue. Repeated by the same holder it is
-- the heartbeat of its place: it keeps the place, and finds a grant whose push was lost. If it finds the name free it
-- grants it to the first ready waiter, which may be another one.
-- KEYS name queue token   ARGV holder lease_ms asks draw
-- Layout: Redisson's RLock (a hash: holder -> value, PTTL = lease) with two changes of ours: the value is the fencing
-- token, and a second field `mode` = `mutex` keeps Redisson's read/write lock out of the hash.
--   asks: '<not_after_us, 16 digits>[ <ticket> <channel> <window_ms> <reserved> <number>]'; without the bracket it is a
--   try, which takes no place and does not pass the queue; with ' *' it is a guest: like a try, but it may take a name
--   that is left to other kinds
--     ticket: 0 none yet, ? asked before and never answered, else the one it has
--     channel: where its grant is pushed; - it polls, !x sharded
--     window_ms: how long a pushed grant stands
--     number: of this heartbeat, never used twice
--   draw: token_ttl_ms * 1000 + reserved, which is below 1000: one argument, because each costs half a command
-- -> token (ours, for lease_ms at least) | {-1 - PTTL, holder, hands_over, place, ticket, length[, heir]}
--    | error LATE seconds microseconds | error BADTOKEN
--   hands_over: 1 the holder's release hands over, 0 another program holds: listen to the channel
--   place: 1 is next, 0 not in the queue
--   heir: another program holds, and its release wakes this one: the first of Redisson's fair queue
--   PTTL -2: no holder; the name is left to others for hands_over ms
-- queue: ZSET, ticket -> '<holder> <channel> <window_ms> <reserved> <number> <asked_us>', the latest heartbeat of that
-- place. Tickets and tokens are drawn from one counter, so one that comes later has a higher one, even if the clock
-- steps back. '*' with score -until_us: until then a free name is left to others. Nothing takes the last member out
-- before the script's end: the queue would lose its expiry with its key.
-- What a free name needs comes by the fewest steps. Defining a function in each run costs as much as half a command,
-- and so does printing a number, also one that is passed to a command. So shared steps (choose, grant, token, hold) are
-- included as text, numbers are passed as text if possible, and texts are compared as they are.
local call, pcall, name, queue, token_key = redis.call, redis.pcall, KEYS[1], KEYS[2], KEYS[3]
local me, asks = ARGV[1], ARGV[3]
local is_alone, is_guest, left, held_by, hands_over = call('EXISTS', name, queue) == 0, false, -2, '', 0
if not is_alone then
  is_guest = string.sub(asks, 17) == ' *'
  left = call('PTTL', name)
  if left ~= -2 then
    -- include holder.lua
    if mine then
      -- written in any case, because WAIT confirms only writes
      call('PEXPIRE', name, math.max(left, ARGV[2]))
      return tonumber(mine)
    end
    held_by = holder or ''
    hands_over = mode == 'mutex' and 1 or 0
    if is_guest then return {-1 - left, held_by, hands_over, 0, 0, 0} end
  end
end
-- include now.lua
-- late bytes of an old link must not make a holder that no client knows of. If the time is later its text is greater:
-- it has sixteen digits too, or fewer and no zero in front
if now > asks and now_us > tonumber(string.sub(asks, 1, 16)) then
  return redis.error_reply('LATE ' .. time[1] .. ' ' .. time[2])
end

local draw = ARGV[4] + 0
local reserved = draw % 1000
local period_us = draw - reserved
local gone, mine, refusal, refused, token, token_us, highest, highest_us
if not is_alone then
  gone = {}
  local ticket, asked = string.match(asks, '^%d+ (%S+) (.+)$')
  if ticket and ticket ~= '0' then
    local found
    if ticket == '?' then
      found = call('ZRANGE', queue, '0', '-1', 'WITHSCORES')
    else
      found = call('ZRANGEBYSCORE', queue, ticket, ticket, 'WITHSCORES')
    end
    for i = 1, #found, 2 do
      if string.sub(found[i], 1, #me + 1) == me .. ' ' then
        mine, ticket = found[i], string.format('%d', found[i + 1])
      end
    end
    if ticket == '?' then ticket = '0' end
  end

  -- read before the first write: a key of another type is refused here
  local length = call('ZCOUNT', queue, '1', '+inf')
  local with_me, has_more, has_star, others, first = ticket ~= nil, false, false, 0, nil
  local kept_free_ms, c_channel, numsub = 0, 'redisson_lock__channel:' .. string.sub(queue, 13), 'NUMSUB'
  if left == -2 then
    -- include kept.lua
    kept_free_ms = is_guest and 0 or math.ceil(kept_free_us / 1000)
    if kept_free_us == 0 then
      -- include choose.lua
      if has_more then
        call('ZREM', queue, unpack(gone))
        return {-1, '', 1, 0, tonumber(ticket or 0), length - #gone}
      end
      if first and first[1] == me then
        first, mine = nil, first[5]
      elseif first and ticket and ticket ~= '0' and not mine then
        -- the queue has forgotten me: the name is mine if no older ticket is `first`
        local is_older = false
        for _, member in ipairs(call('ZRANGEBYSCORE', queue, '1', ticket)) do
          is_older = is_older or member == first[5]
        end
        if not is_older then first = nil end
      end
    end
  end

  if left ~= -2 or kept_free_ms > 0 or first then
    -- not ours now: one draw gives the token of the first, its reserve, and after that a new ticket
    local is_new, heir = ticket == '0', nil
    length = length - #gone + (ticket and not mine and 1 or 0) - (first and 1 or 0)
    if is_new or first then
      reserved = first and first[4] + (is_new and 1 or 0) or 0
      -- include token.lua
      if not token then return refusal end
    end
    if ticket then
      local record = me .. ' ' .. asked .. ' ' .. now
      if is_new then ticket = highest end
      call('ZADD', queue, ticket, record)
      local expires = pcall('PEXPIRE', queue, '90000')
      if type(expires) == 'table' then -- a user without the right to set an expiry gets no place
        if record ~= mine then call('ZREM', queue, record) end
        return expires
      end
      if mine and record ~= mine then gone[#gone + 1] = mine end
    end
    if first then
      -- include grant.lua
      if not is_granted then return refused end
      left, held_by, hands_over = tonumber(first[3]), first[1], 1
    elseif #gone > 0 then
      call('ZREM', queue, unpack(gone))
    end
    if left ~= -2 and hands_over == 0 then
      -- another program has come in: the name is not left to it any longer. Its release looks at no queue: the first
      -- place is the one that listens for it, so the dead in front go now
      pcall('ZREM', queue, '*')
      for _ = 1, 64 do
        local head = call('ZRANGE', queue, '0', '0')[1]
        local asked_us = head and string.match(head, '(%d+)$')
        if not asked_us or now_us <= asked_us + 30000000 then break end
        call('ZREM', queue, head)
        length = length - 1
      end
      local java_queue = 'redisson_lock_queue:' .. string.sub(queue, 13)
      -- include heir.lua
    end
    local place = is_new and length or (ticket and call('ZCOUNT', queue, '1', ticket) or 0)
    return {-1 - left, held_by, left == -2 and kept_free_ms or hands_over, place, tonumber(ticket or 0), length,
      heir}
  end
  if mine then gone[#gone + 1] = mine end
  if has_star then gone[#gone + 1] = '*' end
end

local id, span_ms = me, ARGV[2]
-- include token.lua
if not token then return refusal end
-- include hold.lua
if refused then return refused end
if gone and #gone > 0 then call('ZREM', queue, unpack(gone)) end
return token_us
