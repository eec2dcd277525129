-- mutex_release: end exactly this hold, or leave the queue with this place. The first waiter who is ready is made the holder, and told so on its
-- own channel; if there is none the name is freed, and whoever listens for that is woken.
-- KEYS name queue token   ARGV holder channel terms
--   terms: '<P or S><ticket> <token_ttl_ms> <coin> <own>'   P: PUBLISH, S: SPUBLISH
--     ticket: of a place that may have to be left; ? unknown   own: 1 if our own subscription to the channel counts
--     coin: 0..999, drawn by the client: below the share of others who listen, in thousandths, the name is left to them; 1000 never
-- -> 0 not held by this id, and not in the queue any more | 1 + n freed, n were told | -1 freed, but the message was refused
--    | -2 - f handed over, f others listen
local call, name, queue, token_key, me, c_channel = redis.call, KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local publish, numsub = 'PUBLISH', 'NUMSUB'
if string.byte(ARGV[3]) == 83 then publish, numsub = 'SPUBLISH', 'SHARDNUMSUB' end
local has_queue = call('EXISTS', queue) == 1
-- the first write, which is the check, too; behind it no server refuses one for want of memory. HDEL, not DEL: a group multilock of Redisson may
-- have put fields of its own beside ours
local was_mine = redis.pcall('HDEL', name, me)
if type(was_mine) == 'table' then -- refused: of a name that is free by now, and has no queue, nothing is left to end
  return call('EXISTS', name, queue) == 0 and 0 or was_mine
end
was_mine = was_mine == 1
if has_queue then
  local time = call('TIME')
  local now_us = time[1] * 1000000 + time[2]
  local ticket, token_ttl_ms, coin, own = string.match(ARGV[3], '^%a(%S+) (%d+) (%d+) (%d)$')
  local gone, first, with_me, has_more, has_star, others = {}, nil, false, false, false, 0
  local token_life_ms, token, refusal, refused = 2 * token_ttl_ms, nil, nil, nil
  local may_grant, is_handed_over
  if was_mine then
    -- more than `mode` is left: such a multilock, which joined us, goes on holding. By pcall, as all reads from here: a user without the right
    -- to them frees the name
    local fields = redis.pcall('HLEN', name)
    may_grant = type(fields) ~= 'table' and fields <= 1
  else -- who holds is not in the queue
    -- include leave.lua
    -- include kept.lua
    may_grant = kept_free_us == 0 and call('PTTL', name) == -2
  end
  if may_grant then
    -- include choose.lua
    others = math.max(others - own, 0)
  end
  if first and was_mine and others > 0 then
    -- others have f of f + q turns, where q are the places, and a third at least
    coin = tonumber(coin)
    if coin < 334 or coin * (others + call('ZCOUNT', queue, '1', '+inf')) < 1000 * others then
      redis.pcall('ZADD', queue, string.format('-%d', now_us + 5000), '*')
      if first[2] ~= '-' then redis.pcall(first[6], first[2], 'F ' .. first[1] .. ' 5') end
      first = nil
    end
  end
  if first then
    local reserved = first[4]
    -- include token.lua
    if token then
      -- include grant.lua
      is_handed_over = is_granted
    end
  end
  if is_handed_over then return was_mine and -2 - others or 0 end
  if #gone > 0 then
    call('ZREM', queue, unpack(gone))
    -- whoever left was the last: nobody is kept from a free name any more
    if has_star and call('ZCOUNT', queue, '1', '+inf') == 0 then call('ZREM', queue, '*') end
  end
end
if not was_mine then return 0 end
call('HDEL', name, 'mode')
-- by pcall: a user without the right to the channel has released all the same
local heard = redis.pcall(publish, c_channel, '0')
return type(heard) == 'table' and -1 or 1 + heard
