-- fair_force: end the hold that is named by its holder, if it is a lock's. Nobody is handed the name here: it is
-- freed, and whoever waits is woken, the first of the queue on its own channel: it asks again.
-- KEYS name queue   ARGV holder channel publish_command
-- -> 0 not held by this one | 1 + n freed, n were told | -1 freed, but the message was refused | error WRONGTYPE
-- include force.lua
local call, name, first = redis.call, KEYS[1], nil
for _, member in ipairs(call('ZRANGE', KEYS[2], '0', '1')) do
  if member ~= '*' then first = first or member end
end
call('HDEL', name, ARGV[1])
call('HDEL', name, 'mode')
if first then
  local id, channel = string.match(first, '^(%S+) !?(%S+) ')
  if channel and channel ~= '-' then redis.pcall(ARGV[3], channel, 'F ' .. id .. ' 0') end
end
local heard = redis.pcall(ARGV[3], ARGV[2], '0')
return type(heard) == 'table' and -1 or 1 + heard
