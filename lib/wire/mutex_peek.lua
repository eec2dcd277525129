-- mutex_peek: who holds a MUTEX. Changes nothing.
-- KEYS name   ARGV -
-- -> {PTTL, holder, what}: PTTL -2 it is free, -1 held without an expiry; holder '' nobody; what: as what.lua has it,
--    only 'mutex' and 'rlock' may be ended by force, and of 'other' nobody knows who holds
local call, name, me = redis.call, KEYS[1], nil
local left = call('PTTL', name)
if left == -2 then return {left, '', ''} end
-- include holder.lua
-- include what.lua
return {left, what ~= 'other' and holder or '', what}
