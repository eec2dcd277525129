-- queues: sets `queues` to which queues the name has: 2 is our queue, 1 is Redisson's, asked for by one EXISTS. It sets
-- `java_waiter` to the channel of the first waiter of Redisson's fair queue, which the release also wakes, or leaves it
-- nil or false. The key of that queue is not among KEYS, so that a user without the right to it, or a slot that moves,
-- does not stop the release.
local queues, java_waiter
if not redis.acl_check_cmd or redis.acl_check_cmd('EXISTS', java_queue) then
  queues = pcall('EXISTS', queue, queue, java_queue)
end
if queues ~= 0 and type(queues) ~= 'number' then queues = 2 * call('EXISTS', queue) end
if queues % 2 == 1 then
  java_waiter = pcall('LINDEX', java_queue, '0')
  java_waiter = type(java_waiter) == 'string' and c_channel .. ':' .. java_waiter
end
