-- fair_peek: who holds a FAIR lock, and who waits for it. Changes nothing.
-- KEYS name queue   ARGV holder
-- -> {PTTL, holder, length of the queue, place in it of ARGV's holder: 1 is next, 0 not in it}: PTTL -2 it is free, -1 held without an expiry
local call, name, queue = redis.call, KEYS[1], KEYS[2]
local left, holder = call('PTTL', name), ''
if left ~= -2 then
  for _, field in ipairs(call('HKEYS', name)) do
    if field ~= 'mode' then holder = field end
  end
end
return {left, holder, call('ZCARD', queue), (call('ZRANK', queue, ARGV[1]) or -1) + 1}
