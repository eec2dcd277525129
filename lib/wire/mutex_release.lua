-- mutex_release: end exactly this hold (Redisson's RLock unlock, without its counting: re-entry is counted at the client).
-- HDEL and not DEL: a group multilock of Redisson may have put fields of its own beside ours.
-- KEYS name   ARGV holder channel publish
-- -> 0 not held by this id | 1 + how many listened | -1 released, but the message was refused
local call, name, holder = redis.call, KEYS[1], ARGV[1]
if call('HEXISTS', name, holder) == 0 then return 0 end
call('HDEL', name, holder, 'mode')
-- by pcall: a user without the right to this channel has released all the same
local heard = redis.pcall(ARGV[3], ARGV[2], '0')
if type(heard) == 'table' then return -1 end
return 1 + heard
