-- simple_release: ends exactly this hold.
-- KEYS name   ARGV holder
-- -> 0 not held by this id | 1 released
local call, name = redis.call, KEYS[1]
if call('GET', name) ~= ARGV[1] then return 0 end
return call('DEL', name)
