-- mutex_acquire: become the holder of a MUTEX, or learn who holds it.
-- Layout: Redisson's RLock (a hash: holder id -> value, PTTL = lease) with two changes of ours: the value is the fencing token, and a second
-- field `mode` = `mutex` keeps Redisson's read/write lock out of the hash.
-- KEYS name token   ARGV lease_ms holder reserved not_after_ms token_ttl_ms
-- -> token (new, or ours again: asking twice is harmless) | {-1 - PTTL, holder} held | error LATE seconds microseconds | error BADTOKEN
local call, name, token_key = redis.call, KEYS[1], KEYS[2]
local lease, holder, reserved = ARGV[1], ARGV[2], ARGV[3]
local left = call('PTTL', name)

if left ~= -2 then
  local other = ''
  for _, field in ipairs(call('HKEYS', name)) do
    if field == holder then
      -- in any case, for WAIT confirms only what is written
      call('PEXPIRE', name, math.max(left, lease))
      return tonumber(call('HGET', name, holder))
    end
    if field ~= 'mode' then other = field end
  end
  return {-1 - left, other}
end

local time = call('TIME')
local now_us = time[1] * 1000000 + time[2]
-- bytes of a link that was given up long ago must not make a holder that nobody knows of
local not_after_ms = tonumber(ARGV[4])
if not_after_ms > 0 and now_us > not_after_ms * 1000 then
  return redis.error_reply('LATE ' .. time[1] .. ' ' .. time[2])
end

-- token = max(last + 1, now): rises over the loss of the key and over a clock that steps back. SET .. GET reads and writes in one.
local token, highest = now_us, now_us + reserved
local before = call('SET', token_key, highest, 'KEEPTTL', 'GET')
local last = before and tonumber(before) or 0
if last >= 9e15 then
  call('SET', token_key, before, 'KEEPTTL')
  return redis.error_reply('BADTOKEN the token key of this name holds no token of ours')
end
if last >= now_us then
  token, highest = last + 1, last + 1 + reserved
  call('SET', token_key, highest, 'KEEPTTL')
end
-- the key lives two periods; its TTL is left alone only while all three lie in one period, so that at least one is left
local period_us = ARGV[5] * 1000
local this = now_us - now_us % period_us
if last - last % period_us ~= this or highest - highest % period_us ~= this then
  call('PEXPIRE', token_key, 2 * ARGV[5])
end

call('HSET', name, holder, token, 'mode', 'mutex')
call('PEXPIRE', name, lease)
return token
