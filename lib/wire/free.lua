-- free: the release while the hash slot moves, because it names one key only (Redisson's RLock unlock, without its
-- count of re-entries: the client counts those). It frees the name; the first waiter finds that by its heartbeat.
-- KEYS name   ARGV holder channel publish_command
-- -> 0 not held by this id | 1 + how many listened | -1 released, but the message was refused
local call, name = redis.call, KEYS[1]
-- HDEL and not DEL: a group multilock of Redisson may have put fields of its own beside ours
if call('HDEL', name, ARGV[1]) == 0 then return 0 end
call('HDEL', name, 'mode')
-- by pcall: a user without the right to this channel still releases
local heard = redis.pcall(ARGV[3], ARGV[2], '0')
return type(heard) == 'table' and -1 or 1 + heard
