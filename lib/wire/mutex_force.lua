-- mutex_force: end the hold of the named holder, if it is a lock's. It refuses all but our locks and RLocks: another
-- reader may hold the name, or it is no lock at all and its fields are data. It hands over to no waiter: it frees the
-- name and wakes all waiters, the first of each queue on its own channel, which then ask again.
-- KEYS name queue (without it while a hash slot moves)   ARGV holder channel publish_command
-- -> 0 not held by this one | 1 + n freed, n listened | -1 freed, but the message was refused | error WRONGTYPE
local call, name, queue, me, first = redis.call, KEYS[1], KEYS[2], ARGV[1], nil
-- include holder.lua
-- include what.lua
if what ~= 'mutex' and what ~= 'rlock' and what ~= '' then
  return redis.error_reply('WRONGTYPE it is not a lock that can be ended from here')
end
if not mine then return 0 end
for _, member in ipairs(queue and call('ZRANGE', queue, '0', '1') or {}) do
  if member ~= '*' then first = first or member end
end
call('HDEL', name, me)
call('HDEL', name, 'mode')
if first then
  local id, channel = string.match(first, '^(%S+) !?(%S+) ')
  if channel and channel ~= '-' then redis.pcall(ARGV[3], channel, 'F ' .. id .. ' 0') end
end
local java_queue, heir = 'redisson_lock_queue' .. string.sub(ARGV[2], 23), nil
-- include heir.lua
if heir then redis.pcall(ARGV[3], ARGV[2] .. ':' .. heir, '0') end
local heard = redis.pcall(ARGV[3], ARGV[2], '0')
return type(heard) == 'table' and -1 or 1 + heard
