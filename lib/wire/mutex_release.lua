-- mutex_release: end exactly this hold, or leave the queue with this place. The first ready waiter becomes the holder
-- and hears of it on its own channel; if none is ready the name is freed, and its listeners are woken. A release may
-- also ask for the next handle of its client, under an id of its own: that one stands in the queue behind all others,
-- or becomes the holder if there are none.
-- KEYS name queue token   ARGV holder channel terms [next]
--   terms: '<P or S><ticket> <token_ttl_ms> <coin> <own>'   P: PUBLISH, S: SPUBLISH
--     ticket: of a place that may have to be left; ? unknown; 0 a hold, which has none
--     own: 1 if our own subscription to the channel counts
--     coin: 0..999, drawn by the client: if it is below the share of other listeners, in thousandths, the name is left
--     to them; 1000: never
--   next: '<lease_ms> <holder> <channel> <window_ms> <reserved> <number>', as mutex_acquire has them
-- -> 0 not held by this id, and no longer in the queue | 1 + n freed, n listened | -1 freed, but the message was
--    refused
--    | -2 - f handed over, f others listen
--    | {one of these but 0, and behind it what mutex_acquire answers: one number or six}; alone: next was not asked for
local call, name, queue, token_key, me, c_channel = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local publish, numsub = 'PUBLISH', 'NUMSUB'
if string.byte(ARGV[3]) == 83 then publish, numsub = 'SPUBLISH', 'SHARDNUMSUB' end
local has_queue = call('EXISTS', queue) == 1
-- the first write is also the check; after it no server refuses a write for lack of memory. HDEL, not DEL: a group
-- multilock of Redisson may have put fields of its own beside ours
local was_mine = redis.pcall('HDEL', name, me)
if type(was_mine) == 'table' then -- refused: if the name is free by now and has no queue, nothing is left to end
  return call('EXISTS', name, queue) == 0 and 0 or was_mine
end
was_mine = was_mine == 1
local answer
if has_queue or ARGV[4] then
  local time = call('TIME')
  local now_us = time[1] * 1000000 + time[2]
  local ticket, token_ttl_ms, coin, own = string.match(ARGV[3], '^%a(%S+) (%d+) (%d+) (%d)$')
  local gone, first, with_me, has_more, has_star, others = {}, nil, false, false, false, 0
  local token_life_ms, token, refusal, refused = 2 * token_ttl_ms, nil, nil, nil
  local may_grant, is_handed_over
  -- a release that ended no hold asks for nothing: late bytes must not make a holder that no client knows of
  local next_ms, record, heir, block =
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
    if heir and not first then
      first = {heir, '-', next_ms, block}
      others = redis.pcall('PUBSUB', numsub, c_channel)[2] or 0
    end
    others = math.max(others - own, 0)
  end
  heir = may_grant and heir
  if first and was_mine and others > 0 then
    -- f others beside q places get f of f + q turns, and at least a third
    coin = tonumber(coin)
    if coin < 334 or coin * (others + call('ZCOUNT', queue, '1', '+inf') + (heir and 1 or 0)) < 1000 * others then
      redis.pcall('ZADD', queue, string.format('-%d', now_us + 5000), '*')
      if first[2] ~= '-' then redis.pcall(first[6], first[2], 'F ' .. first[1] .. ' 5') end
      first = nil
    end
  end
  if first or heir then
    local stands = heir and not (first and first[1] == heir)
    local reserved = (first and first[4] or 0) + (stands and 1 or 0)
    -- include token.lua
    if token and stands then
      -- before anything is taken out: an empty queue would lose its expiry
      record = record .. ' ' .. time[1] .. string.sub('00000' .. time[2], -6)
      stands = string.format('%d', token + reserved)
      redis.pcall('ZADD', queue, stands, record)
      if type(redis.pcall('PEXPIRE', queue, '90000')) == 'table' then
        redis.pcall('ZREM', queue, record, has_queue and record or '*')
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
    elseif heir and is_handed_over then
      answer = {0, tonumber(token)}
    end
  end
  if is_handed_over and answer then
    answer[1] = -2 - others
    return answer
  end
  if is_handed_over then return was_mine and -2 - others or 0 end
  if #gone > 0 then
    call('ZREM', queue, unpack(gone))
    -- the last place is gone, so nothing is left to keep from a free name
    if has_star and call('ZCOUNT', queue, '1', '+inf') == 0 then call('ZREM', queue, '*') end
  end
end
if not was_mine then return 0 end
call('HDEL', name, 'mode')
-- by pcall: a user without the right to the channel still releases
local heard = redis.pcall(publish, c_channel, '0')
local freed = type(heard) == 'table' and -1 or 1 + heard
if not answer then return freed end
answer[1] = freed
return answer
