-- fair_release: end exactly this hold or this wait. The first waiter who is ready is made the holder, and told so on his own channel; if there
-- is none the name is freed, and whoever listens for that is woken.
-- KEYS name queue waiters token
-- ARGV holder window_ms channel publish_command yields_ms numsub_word token_ttl_ms
--   yields_ms: 0, or for how long the name is left to other kinds, if any of them listens   numsub_word: how listeners of `channel` are counted,
--   '' if the count would mean nothing: somebody may listen
-- -> 0 not held by this id, and not in the queue any more | 1 freed | 2 handed over | -1 freed, but the message was refused
-- include fair_queue.lua
local window_ms, channel, yields_ms, token_ttl_ms = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[5]), ARGV[7]
local was_mine = call('HEXISTS', name, me) == 1

-- HDEL, not DEL: a group multilock of Redisson may have put fields of its own beside ours
local function free()
  call('HDEL', name, me, 'mode')
  let_go()
end

local function tell() return type(redis.pcall(ARGV[4], channel, '0')) == 'table' and -1 or 1 end

if waiting > 0 then
  read_clock()
  local is_free = false
  if not was_mine then -- who holds is not in the queue
    if call('ZSCORE', queue, me) then gone[1] = me end
    is_free = call('PTTL', name) == -2 and (call('HGET', waiters, '*') or 0) - now_ms <= 0
  end
  local token = (was_mine or is_free) and next_token()
  local first = token and next_waiter(false)
  if first and was_mine and yields_ms > 0 and (ARGV[6] == '' or is_heard(ARGV[6], channel)) then
    free()
    redis.pcall('HSET', waiters, '*', now_ms + yields_ms)
    local told = tell()
    push(first.channel, 'F ' .. first.id .. ' ' .. yields_ms)
    return told
  end
  if first and grant(first, token, window_ms, was_mine and me, token_ttl_ms) then return was_mine and 2 or 0 end
end
if not was_mine then
  let_go()
  return 0
end
free()
return tell()
