-- mutex_peek: reads the holder and the queue of a name. Changes nothing.
-- KEYS name queue   ARGV ticket
-- -> {PTTL, holder, what, length of the queue, place in it of ARGV's ticket: 1 is next, 0 not in it}
--    PTTL -2 free, -1 held without an expiry; holder '': none; what: see what.lua. Only 'mutex' and 'rlock' may be
--    ended by force; the holder of 'other' is unknown
local call, name, queue, ticket, me = redis.call, KEYS[1], KEYS[2], ARGV[1], nil
local left, length, place = call('PTTL', name), call('ZCOUNT', queue, '1', '+inf'), 0
if ticket ~= '0' and #call('ZRANGEBYSCORE', queue, ticket, ticket) > 0 then
  place = call('ZCOUNT', queue, '1', ticket)
end
if left == -2 then return {left, '', '', length, place} end
-- include holder.lua
-- include what.lua
return {left, what ~= 'other' and holder or '', what, length, place}
