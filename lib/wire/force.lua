-- force: what begins a forced release, before its first write. What is neither a lock of ours nor an RLock is not
-- touched: another reader may hold it, or it is no lock at all, and its fields are data.
-- -> 0 not held by this one | error WRONGTYPE
do
  local call, name, me = redis.call, KEYS[1], ARGV[1]
  -- include holder.lua
  -- include what.lua
  if what ~= 'mutex' and what ~= 'rlock' and what ~= '' then
    return redis.error_reply('WRONGTYPE it is not a lock that can be ended from here')
  end
  if not mine then return 0 end
end
