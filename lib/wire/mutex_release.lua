-- mutex_release: end exactly this hold, or leave the queue with this place. The first ready waiter becomes the holder
-- and hears of it on its own channel; if none is ready the name is freed, and its listeners are woken. A release may
-- also ask for the next handle of its client, under an id of its own: that one stands in the queue behind all others,
-- or becomes the holder if there are none.
-- KEYS name queue token   ARGV holder terms [next]
--   terms: '[S]<own> <ticket> <token_ttl_ms>[ <lease_ms of next>]'   S: by SPUBLISH
--     own: so many of those who listen to the channel are not others. If there are others the name is freed, and left
--     to them for 5 ms; a million: it never is
--     ticket: of a place that may have to be left; ? unknown; 0 a hold, which has none
--   next: '<holder> <channel> <window_ms> <reserved> <number>', its place but for the time
-- -> 0 not held by this id, and no longer in the queue | 1 + n freed, n listened | -1 freed, but the message was
--    refused
--    | -2 handed over
--    | {one of these but 0, and behind it what mutex_acquire answers: one number or six}; alone: next was not asked for
local call, pcall, name, queue, token_key = redis.call, redis.pcall, KEYS[1], KEYS[2], KEYS[3]
local me, terms, tag = ARGV[1], ARGV[2], string.sub(queue, 13)
local c_channel, java_queue = 'redisson_lock__channel:' .. tag, 'redisson_lock_queue:' .. tag
local publish, numsub = 'PUBLISH', 'NUMSUB'
if terms > 'S' then publish, numsub = 'SPUBLISH', 'SHARDNUMSUB' end
-- The release also wakes the head of Redisson's fair queue. That key is not among KEYS, so a user without the right to
-- it, or a slot that moves, must not stop the release. One EXISTS for both queues: 2 is ours, 1 is that one
local queues, heir
if not redis.acl_check_cmd or redis.acl_check_cmd('EXISTS', java_queue) then
  queues = pcall('EXISTS', queue, queue, java_queue)
end
if queues ~= 0 and type(queues) ~= 'number' then queues = 2 * call('EXISTS', queue) end
if queues % 2 == 1 then
  heir = pcall('LINDEX', java_queue, '0')
  heir = type(heir) == 'string' and c_channel .. ':' .. heir
end
-- the first write is also the check; after it no server refuses a write for lack of memory. HDEL, not DEL: a group
-- multilock of Redisson may have put fields of its own beside ours
local was_mine, answer = pcall('HDEL', name, me), nil
if was_mine ~= 1 and was_mine ~= 0 then -- refused: if the name is free by now and has no queue, nothing is left to end
  return call('EXISTS', name, queue) == 0 and 0 or was_mine
end
was_mine = was_mine == 1
if queues > 1 or ARGV[3] then
  -- include now.lua
  local own, ticket, token_ttl_ms = string.match(terms, '^S?(%d+) (%S+) (%d+)')
  local gone, first, with_me, has_more, has_star, others = {}, nil, false, false, false, 0
  local period_us, refusal, refused, token, token_us, highest, highest_us = token_ttl_ms * 1000
  -- a release that ended no hold asks for nothing: late bytes must not make a holder that no client knows of
  local next, may_grant, is_next, is_handed_over = was_mine and ARGV[3]
  if was_mine then
    -- more than `mode` is left: such a multilock joined us and still holds. All reads from here are by pcall: for a
    -- user without the right to them the name is freed
    local fields = pcall('HLEN', name)
    may_grant = fields == 1 or fields == 0
  end
  if not was_mine or ticket ~= '0' then
    -- include leave.lua
  end
  if not was_mine then
    -- include kept.lua
    may_grant = kept_free_us == 0 and call('PTTL', name) == -2
  end
  next = may_grant and next
  if may_grant then
    -- include choose.lua
    if next and not first then
      local id, block = string.match(next, '^(%S+) %S+ %d+ (%d+) %d+$')
      first, is_next = {id, '-', string.match(terms, '%d+$'), block}, true
      others = pcall('PUBSUB', numsub, c_channel)[2] or 0
    end
    if first and heir then others = others + (pcall('PUBSUB', numsub, heir)[2] or 0) end
  end
  if first and was_mine and others > own + 0 then
    if first[2] ~= '-' then pcall(first[6], first[2], 'F ' .. first[1] .. ' 5') end
    first, is_next = nil, false
  end
  if first or next then
    local stands, reserved = next and not is_next, 0
    if first then reserved = first[4] + (stands and 1 or 0) end
    -- include token.lua
    if token and stands then
      -- before anything is taken out: an empty queue would lose its expiry
      local record = next .. ' ' .. now
      pcall('ZADD', queue, highest, record)
      if type(pcall('PEXPIRE', queue, '90000')) == 'table' then
        pcall('ZREM', queue, record)
        stands = false
      end
    end
    if token and first then
      -- include grant.lua
      is_handed_over = is_granted
    end
    if token and stands then
      local length, kept_ms = call('ZCOUNT', queue, '1', '+inf'), first and 0 or 5
      answer = {0, 1, '', kept_ms, length, highest_us, length}
      if is_handed_over then answer[2], answer[3], answer[4] = -1 - first[3], first[1], 1 end
    elseif next and is_handed_over then
      answer = {0, token_us}
    end
  end
  if is_handed_over and answer then
    answer[1] = -2
    return answer
  end
  if is_handed_over then return was_mine and -2 or 0 end
  if #gone > 0 then
    call('ZREM', queue, unpack(gone))
    -- the last place is gone, so nothing is left to keep from a free name
    if has_star and call('ZCOUNT', queue, '1', '+inf') == 0 then call('ZREM', queue, '*') end
  end
end
if not was_mine then return 0 end
call('HDEL', name, 'mode')
-- by pcall: a user without the right to the channel still releases
local heard, freed = pcall(publish, c_channel, '0'), 1
if heard ~= 0 or heir then
  local heir_heard = heir and pcall(publish, heir, '0')
  freed = type(heard) == 'table' and -1 or 1 + heard
  local others = math.max(freed - 1, 0) + (tonumber(heir_heard) or 0)
  if others > 0 and others > tonumber(string.match(terms, '%d+')) then
    -- they heard that it is free, but our own would be faster
    -- include now.lua
    pcall('ZADD', queue, string.format('-%d', now_us + 5000), '*')
    local life_ms = pcall('PTTL', queue)
    if (type(life_ms) == 'table' or life_ms < 0) and type(pcall('PEXPIRE', queue, '100')) == 'table' then
      pcall('ZREM', queue, '*') -- without a queue, and no right to an expiry
    end
  end
end
if not answer then return freed end
answer[1] = freed
return answer
