-- simple_peek: reads the holder of a SIMPLE lock. Changes nothing.
-- KEYS name   ARGV -
-- -> {PTTL, value}: PTTL -2 it is free, -1 held without an expiry
local call, name = redis.call, KEYS[1]
local value = call('GET', name)
if not value then return {-2, ''} end
-- another program may keep anything there: one byte more than the longest holder that can be named
return {call('PTTL', name), string.sub(value, 1, 1025)}
