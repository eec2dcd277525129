-- fair_peek: who holds a FAIR lock, and who waits for it. Changes nothing.
-- KEYS name queue   ARGV holder
-- -> {PTTL, holder, what, length of the queue, place in it of ARGV's holder: 1 is next, 0 not in it}: the first three
--    as of mutex_peek
local call, name, queue, me = redis.call, KEYS[1], KEYS[2], nil
local left, length, place = call('PTTL', name), call('ZCARD', queue), (call('ZRANK', queue, ARGV[1]) or -1) + 1
if left == -2 then return {left, '', '', length, place} end
-- include holder.lua
-- include what.lua
return {left, what ~= 'other' and holder or '', what, length, place}
