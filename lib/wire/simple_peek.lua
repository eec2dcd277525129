-- simple_peek: reads the holder of a SIMPLE lock. It changes nothing.
-- KEYS name   ARGV -
-- -> {PTTL, value}: PTTL -2 the name is free, -1 it is held without an expiry
local call, name = redis.call, KEYS[1]
local value = call('GET', name)
if not value then return {-2, ''} end
-- another program may keep anything there: one byte more is returned than the longest holder that can be named has
return {call('PTTL', name), string.sub(value, 1, $PEEKED_HOLDER_MAX + 1)}
