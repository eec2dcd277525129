-- simple_acquire: the second question for a SIMPLE lock, after a native SET .. NX found the key taken: takes the name
-- if it is free by now, or reads its holder.
-- KEYS name   ARGV holder lease_ms
-- -> 1 taken, or ours already (asking twice is harmless) | {PTTL, value} held (PTTL -1: without an expiry)
local call, name, holder, lease = redis.call, KEYS[1], ARGV[1], ARGV[2]
if call('SET', name, holder, 'NX', 'PX', lease) then return 1 end
local value, left = call('GET', name), call('PTTL', name)
if value ~= holder then
  -- another program may keep anything there: return no more than a holder's name is long
  return {left, string.sub(value, 1, 255)}
end
-- written in any case, because WAIT confirms only writes
call('PEXPIRE', name, math.max(left, lease))
return 1
