-- mutex_acquire: become the holder of a MUTEX, or learn who holds it.
-- Layout: Redisson's RLock (a hash: holder id -> value, PTTL = lease) with two changes of ours: the value is the fencing token, and a second
-- field `mode` = `mutex` keeps Redisson's read/write lock out of the hash.
-- KEYS name token   ARGV lease_ms holder reserved not_after_ms token_ttl_ms
-- -> token (new, or ours again: asking twice is harmless) | {-1 - PTTL, holder} held | error LATE seconds microseconds | error BADTOKEN
local call, name, token_key = redis.call, KEYS[1], KEYS[2]
local span_ms, me, reserved = ARGV[1], ARGV[2], ARGV[3]
local left = call('PTTL', name)

if left ~= -2 then
  -- include holder.lua
  if mine then
    -- in any case, for WAIT confirms only what is written
    call('PEXPIRE', name, math.max(left, span_ms))
    return tonumber(mine)
  end
  return {-1 - left, holder or ''}
end

local time = call('TIME')
local now_us = time[1] * 1000000 + time[2]
-- bytes of a link that was given up long ago must not make a holder that nobody knows of
local not_after_ms = tonumber(ARGV[4])
if not_after_ms > 0 and now_us > not_after_ms * 1000 then
  return redis.error_reply('LATE ' .. time[1] .. ' ' .. time[2])
end

local token_life_ms, id = 2 * ARGV[5], me
local token, refusal, refused
-- include token.lua
if not token then return refusal end
-- include hold.lua
return type(refused) == 'table' and refused or tonumber(token)
