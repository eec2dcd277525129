-- java_waiter: sets `java_waiter` to the first waiter of Redisson's fair queue of this name, or leaves it nil. The key
-- of that queue is not among KEYS, so a user without the right to it only misses this waiter.
if not redis.acl_check_cmd or redis.acl_check_cmd('LINDEX', java_queue, '0') then
  java_waiter = redis.pcall('LINDEX', java_queue, '0')
  if type(java_waiter) ~= 'string' then java_waiter = nil end
end
