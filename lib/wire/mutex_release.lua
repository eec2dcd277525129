-- mutex_release: end exactly this hold, or leave the queue with this place. The first ready waiter becomes the holder
-- and hears of it on its own channel; if none is ready the name is freed, and its listeners are woken. A release may
-- also ask for the next handle of its client, under an id of its own: that one stands in the queue behind all others,
-- or becomes the holder if there are none.
-- KEYS name queue token   ARGV holder channel terms [next]
--   terms: '<P or S><ticket> <token_ttl_ms> <own>'   P: PUBLISH, S: SPUBLISH
--     ticket: of a place that may have to be left; ? unknown; 0 a hold, which has none
--     own: so many of those who listen to the channel are not others. If there are others the name is freed, and left
--     to them for 5 ms; a million: it never is
--   next: '<lease_ms> <holder> <channel> <window_ms> <reserved> <number>', as mutex_acquire has them
-- -> 0 not held by this id, and no longer in the queue | 1 + n freed, n listened | -1 freed, but the message was
--    refused
--    | -2 handed over
--    | {one of these but 0, and behind it what mutex_acquire answers: one number or six}; alone: next was not asked for
local call, name, queue, token_key, me, c_channel = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local publish, numsub = 'PUBLISH', 'NUMSUB'
if string.byte(ARGV[3]) == 83 then publish, numsub = 'SPUBLISH', 'SHARDNUMSUB' end
-- The release also wakes the head of Redisson's fair queue. That key is not among KEYS, so a user without the right to
-- it, or a slot that moves, must not stop the release. One EXISTS for both queues: 2 is ours, 1 is that one
local java_queue, queues, heir = 'redisson_lock_queue' .. string.sub(c_channel, 23), nil, nil
if not redis.acl_check_cmd or redis.acl_check_cmd('LINDEX', java_queue, '0') then
  queues = redis.pcall('EXISTS', queue, queue, java_queue)
end
if type(queues) ~= 'number' then queues = 2 * call('EXISTS', queue) end
if queues % 2 == 1 then heir = redis.pcall('LINDEX', java_queue, '0') end
heir = type(heir) == 'string' and c_channel .. ':' .. heir
-- the first write is also the check; after it no server refuses a write for lack of memory. HDEL, not DEL: a group
-- multilock of Redisson may have put fields of its own beside ours
local was_mine = redis.pcall('HDEL', name, me)
if type(was_mine) == 'table' then -- refused: if the name is free by now and has no queue, nothing is left to end
  return call('EXISTS', name, queue) == 0 and 0 or was_mine
end
was_mine = was_mine == 1
local answer
if queues > 1 or ARGV[4] then
  local time = call('TIME')
  local now_us = time[1] * 1000000 + time[2]
  local ticket, token_ttl_ms, own = string.match(ARGV[3], '^%a(%S+) (%d+) (%d+)$')
  local gone, first, with_me, has_more, has_star, others = {}, nil, false, false, false, 0
  local token_life_ms, token, refusal, refused = 2 * token_ttl_ms, nil, nil, nil
  local may_grant, is_handed_over
  -- a release that ended no hold asks for nothing: late bytes must not make a holder that no client knows of
  local next_ms, record, next_id, block =
    string.match(was_mine and ARGV[4] or '', '^(%d+) ((%S+) %S+ %d+ (%d+) %d+)$')
  if was_mine then
    -- more than `mode` is left: such a multilock joined us and still holds. All reads from here are by pcall: for a
    -- user without the right to them the name is freed
    local fields = redis.pcall('HLEN', name)
    may_grant = type(fields) ~= 'table' and fields <= 1
  end
  if not was_mine or ticket ~= '0' then
    -- include leave.lua
  end
  if not was_mine then
    -- include kept.lua
    may_grant = kept_free_us == 0 and call('PTTL', name) == -2
  end
  if may_grant then
    -- include choose.lua
    if next_id and not first then
      first = {next_id, '-', next_ms, block}
      others = redis.pcall('PUBSUB', numsub, c_channel)[2] or 0
    end
    if first and heir then others = others + (redis.pcall('PUBSUB', numsub, heir)[2] or 0) end
  end
  next_id = may_grant and next_id
  if first and was_mine and others > tonumber(own) then
    if first[2] ~= '-' then redis.pcall(first[6], first[2], 'F ' .. first[1] .. ' 5') end
    first = nil
  end
  if first or next_id then
    local stands = next_id and not (first and first[1] == next_id)
    local reserved = (first and first[4] or 0) + (stands and 1 or 0)
    -- include token.lua
    if token and stands then
      -- before anything is taken out: an empty queue would lose its expiry
      record = record .. ' ' .. time[1] .. string.sub('00000' .. time[2], -6)
      stands = string.format('%d', token + reserved)
      redis.pcall('ZADD', queue, stands, record)
      if type(redis.pcall('PEXPIRE', queue, '90000')) == 'table' then
        redis.pcall('ZREM', queue, record)
        stands = nil
      end
    end
    if token and first then
      -- include grant.lua
      is_handed_over = is_granted
    end
    if token and stands then
      local length, kept_ms = call('ZCOUNT', queue, '1', '+inf'), first and 0 or 5
      answer = {0, 1, '', kept_ms, length, tonumber(stands), length}
      if is_handed_over then answer[2], answer[3], answer[4] = -1 - first[3], first[1], 1 end
    elseif next_id and is_handed_over then
      answer = {0, tonumber(token)}
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
local heard, heir_heard = redis.pcall(publish, c_channel, '0'), heir and redis.pcall(publish, heir, '0')
local freed = type(heard) == 'table' and -1 or 1 + heard
local others = math.max(freed - 1, 0) + (tonumber(heir_heard) or 0)
if others > 0 and others > tonumber(string.match(ARGV[3], '%d+$')) then
  -- they heard that it is free, but our own would be faster
  local time = call('TIME')
  redis.pcall('ZADD', queue, string.format('-%d', time[1] * 1000000 + time[2] + 5000), '*')
  local life_ms = redis.pcall('PTTL', queue)
  if (type(life_ms) == 'table' or life_ms < 0) and type(redis.pcall('PEXPIRE', queue, '100')) == 'table' then
    redis.pcall('ZREM', queue, '*') -- without a queue, and no right to an expiry
  end
end
if not answer then return freed end
answer[1] = freed
return answer
