-- fair_queue: what begins both fair_acquire and fair_release.
-- queue    ZSET holder -> ticket, in microseconds: a later comer has a higher one, also when the clock steps back
-- waiters  HASH holder -> 'asked_ms alive_ms number lease_ms channel', his latest heartbeat; and '*' -> the time in ms until which FAIR keeps
--          out of a free name
-- A channel is '' (its owner polls), a name, or '!name' (sharded pub/sub).
-- A hand-over is what everybody waits for while nobody works, so each command it can do without was taken out of its way. A function made anew in
-- each run costs as much as half a command, and so does a number that is given to one, for it is printed as a floating one: so the steps
-- in common are texts put in place (fair_next, token, hold, fair_grant), and numbers go as texts where they can.
local name, queue, waiters, token_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local call, me = redis.call, ARGV[1]
local gone = {} -- who leaves the queue
local time = call('TIME')
local now_us = time[1] * 1000000 + time[2]
local now_ms = math.floor(now_us / 1000)
