-- mutex_peek: who holds a MUTEX. Changes nothing.
-- KEYS name   ARGV -
-- -> {PTTL, holder}: PTTL -2 it is free, -1 held without an expiry; holder '' nobody
local call, name = redis.call, KEYS[1]
local left, holder = call('PTTL', name), ''
if left ~= -2 then
  for _, field in ipairs(call('HKEYS', name)) do
    if field ~= 'mode' then holder = field end
  end
end
return {left, holder}
