-- mutex_force: ends the hold of the named holder, if that is the hold of a lock; of a name that several hold, it ends
-- one share. It refuses all but our locks and RLocks: elsewhere another reader may hold the name, or the key is no lock
-- at all and its fields are data. It hands over to no waiter. It frees the name and wakes all waiters, the first one of
-- each queue on its own channel; these then ask again.
-- KEYS name queue (without it while a hash slot moves)   ARGV holder channel publish_command
-- -> 0 not held by this holder | 1 + n freed, n listened | -1 freed, but the message was refused
--    | -2 ended, others share the name | error WRONGTYPE
local call, name, queue, me = redis.call, KEYS[1], KEYS[2], ARGV[1]
local mine, mode, holder, seen, member
-- include holder.lua
-- include what.lua
if what ~= 'mutex' and what ~= 'shared' and what ~= 'rlock' and what ~= '' then
  return redis.error_reply('WRONGTYPE it is not a lock that can be ended from here')
end
if not mine then return 0 end
if queue then
  local at = call('ZCOUNT', queue, '-inf', '(1')
  member = call('ZRANGE', queue, at, at)[1]
end
call('HDEL', name, me)
local others = 0
if what == 'shared' then
  if queue then redis.pcall('ZREM', '$KEY_SHARE' .. string.sub(queue, $KEY_QUEUE_LENGTH + 1), me) end
  others = call('HLEN', name) - 1
end
if others < 1 then call('HDEL', name, 'mode') end
if member then
  -- include record.lua place
  if id then
    -- include record.lua channel
    if not is_poller then redis.pcall(publish, channel, '$ASK_WORD ' .. id .. ' 0: ' .. name) end
  end
end
if others > 0 then return $HANDED_OVER end
local java_queue, java_waiter = '$KEY_JAVA_QUEUE' .. string.sub(ARGV[2], $KEY_CHANNEL_LENGTH + 1), nil
-- include java_waiter.lua
if java_waiter then redis.pcall(ARGV[3], ARGV[2] .. ':' .. java_waiter, '0') end
local heard = redis.pcall(ARGV[3], ARGV[2], '0')
return type(heard) == 'table' and $FREED_UNHEARD or 1 + heard
