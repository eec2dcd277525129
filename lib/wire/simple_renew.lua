-- simple_renew: makes this hold last at least lease_ms from now. It never shortens a lease, and never makes a hold
-- again.
-- KEYS name   ARGV holder lease_ms
-- -> 0 not this hold | 1 + the PTTL that it found
local call, name = redis.call, KEYS[1]
if call('GET', name) ~= ARGV[1] then return 0 end
local left = call('PTTL', name)
if left < tonumber(ARGV[2]) then call('PEXPIRE', name, ARGV[2]) end
if left < 0 then left = 0 end
return 1 + left
