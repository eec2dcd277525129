-- fair_queue: what fair_acquire and fair_release have in common: who is next, and how he is made the holder. embed.py puts it in front of both.
-- queue    ZSET holder -> ticket, in microseconds: a later comer has a higher one, also when the clock steps back
-- waiters  HASH holder -> 'asked_ms alive_ms number lease_ms channel', his latest heartbeat; and '*' -> the time in ms until which FAIR keeps
--          out of a free name
-- A channel is '' (its owner polls), a name, or '!name' (sharded pub/sub).
local name, queue, waiters, token_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local call, me = redis.call, ARGV[1]
local waiting = call('ZCARD', queue)
local gone = {}
local time, now_us, now_ms

local function read_clock()
  time = call('TIME')
  now_us = time[1] * 1000000 + time[2]
  now_ms = math.floor(now_us / 1000)
end

-- who may not ask is told that nobody listens
local function is_heard(word, channel)
  return (redis.pcall('PUBSUB', word, channel)[2] or 0) > 0
end

local function is_sharded(channel) return string.byte(channel) == 33 end

local function is_ready(channel)
  if channel == '' then return true end
  if is_sharded(channel) then return is_heard('SHARDNUMSUB', string.sub(channel, 2)) end
  return is_heard('NUMSUB', channel)
end

local function push(channel, text)
  if is_sharded(channel) then
    redis.pcall('SPUBLISH', string.sub(channel, 2), text)
  elseif channel ~= '' then
    redis.pcall('PUBLISH', channel, text)
  end
end

-- nil: he has not been heard of for too long
local function waiter_of(id)
  local entry = call('HGET', waiters, id) or ''
  local asked_ms, alive_ms, number, lease_ms, channel = string.match(entry, '^(%d+) (%d+) (%d+) (%d+) (.*)$')
  if not asked_ms or now_ms > asked_ms + alive_ms then return nil end
  return {id = id, asked_ms = tonumber(asked_ms), number = number, lease_ms = tonumber(lease_ms), channel = channel}
end

-- By ticket the first who is ready; if none of 64 is, the first of them who is alive: his next heartbeat finds the grant. The dead go.
-- Somebody skipped keeps his place. with_me: I am one of them, and ready. The second answer: too many dead, the rest next time.
-- Mostly it is the first of all: he is looked at before a batch is fetched.
local function next_waiter(with_me)
  local deaf
  local from, to = 0, 0
  while from < waiting do
    local batch = call('ZRANGE', queue, from, to, 'WITHSCORES')
    for i = 1, #batch, 2 do
      local id, waiter = batch[i], nil
      if id ~= me then
        waiter = waiter_of(id)
        if not waiter then gone[#gone + 1] = id end
      elseif with_me then
        return {id = me, ticket = tonumber(batch[i + 1])}
      end
      if waiter then
        waiter.ticket = tonumber(batch[i + 1])
        if is_ready(waiter.channel) then return waiter end
        deaf = deaf or waiter
      end
    end
    if deaf and to > 0 then return deaf end
    if #gone > 1000 then return nil, true end
    from, to = to + 1, to == 0 and 63 or to + 64
  end
  return deaf
end

-- max(highest + 1, now), as for a MUTEX; nil and an error if the key holds none of ours
local function next_token()
  local highest = redis.pcall('GET', token_key)
  if type(highest) == 'table' then return nil, highest end
  highest = highest and tonumber(highest) or 0
  if highest >= 9e15 then return nil, redis.error_reply('BADTOKEN the token key of this name holds no token of ours') end
  if highest >= now_us then return math.floor(highest) + 1 end
  return now_us
end

local function let_go()
  if #gone == 0 then return end
  if #gone >= waiting then call('DEL', waiters) else call('HDEL', waiters, unpack(gone)) end
  waiting = waiting - call('ZREM', queue, unpack(gone))
end

-- He holds it for a window, within which he has to renew. Written first and told last: a server that refuses the write (a replica, no
-- memory) tells nobody. old: the holder in whose place he comes
local function grant(waiter, token, window_ms, old, token_ttl_ms)
  local lease_ms = math.min(waiter.lease_ms, window_ms)
  if type(redis.pcall('HSET', name, waiter.id, token, 'mode', 'mutex')) == 'table' then return false end
  if old then call('HDEL', name, old) end
  call('PEXPIREAT', name, now_ms + lease_ms)
  redis.pcall('SET', token_key, token, 'PX', 2 * token_ttl_ms)
  gone[#gone + 1] = waiter.id
  let_go()
  local since_asked = string.format('%.0f %.0f %.0f ', now_ms - waiter.asked_ms, lease_ms, token)
  push(waiter.channel, 'G ' .. waiter.id .. ' ' .. waiter.number .. ' ' .. since_asked .. name)
  return true
end
