/* SPDX-License-Identifier: BSD-3-Clause */
/* probes - small scripts that ask how a server treats what its scripts say and do, where the library's own do not go: for trial.c alone.
 * KEYS: one of any type. ARGV: a number, a word, a channel. */
#ifndef LOCKSTEP_PROBES_H
#define LOCKSTEP_PROBES_H

static const char *const probes[] = {
    /* what becomes of values on their way out */
    "return {1, 2.9, -2.9, -0.5, 'x', true, {3, {4}}, ARGV[1] * 1}",
    "return {1, nil, 3}",
    "return {1, false, 'a', {}}",
    "return nil",
    "return false",
    "return {ok = 'fine', err = 'CODE both'}",
    "return {ok = 'two\\nlines'}",
    "return {err = 'My own'}",
    "return redis.status_reply('GOOD')",
    "return redis.error_reply('LATE ' .. ARGV[1] .. ' 2')",
    "return redis.error_reply('ONEWORD')",
    "return redis.error_reply('-MINUS and more')",
    "return redis.error_reply('LINES a\\r\\nb\\r\\n')",
    "return {redis.error_reply()['err'], redis.status_reply(1)['err']}",
    "return tostring(1e15) .. ' ' .. 0.1 .. ' ' .. 2^53 .. ' ' .. 1e100 .. ' ' .. -1.5",
    "return 1700000000123456.9",
    "return {string.format('%.0f', 2^52 + 1), math.floor(-1.5), math.ceil(1.2), #ARGV, unpack({7, 8})}",
    "return {type(KEYS), tonumber('12 '), tonumber('0x10') or 'none', ('a b'):match('^(%S+)')}",
    /* errors: of commands, of Lua, and where */
    "return redis.call('GET', KEYS[1])",
    "local got = redis.pcall('GET', KEYS[1])\nif type(got) == 'table' then return got.err end\nreturn got",
    "return redis.pcall('HGET', KEYS[1], 'mode')",
    "local got = redis.pcall('INCR', KEYS[1])\nif type(got) == 'table' then return {got.err, type(got.ok)} end\nreturn got",
    "local set = redis.call('SET', KEYS[1], 'v')\nreturn {set.ok, redis.call('TYPE', KEYS[1]).ok}",
    "redis.call('SET', KEYS[1], ARGV[1])\nreturn redis.call('HSET', KEYS[1], 'a', 1)",
    "return redis.call('NOSUCH')",
    "return redis.pcall('GET')",
    "return redis.call('SUBSCRIBE', 'a')",
    "return redis.call()",
    "return redis.call('GET', {})",
    "return redis.call('SET', KEYS[1], true)",
    "return redis.pcall('SET', KEYS[1], nil)",
    "error('raised')",
    "error({err = 'CODE raised'})",
    "local function fails() error('inside', 2) end\nfails()",
    "\n\nreturn nil + 1",
    "return nothing_of_this_name",
    "made_here = 1\nreturn 1",
    "return ({}).a.b",
    "local ok, why = pcall(redis.call, 'HSET', KEYS[1])\nreturn {ok and 1 or 0, type(why), why.err}",
    "return redis.call('PEXPIRE', KEYS[1], 'x')",
    "return redis.call('get', KEYS[1]) == redis.call('GET', KEYS[1])",
    /* numbers as arguments */
    "redis.call('SET', KEYS[1], 1700000000123456 + 0)\nreturn redis.call('GET', KEYS[1])",
    "redis.call('SET', KEYS[1], 2^53 - 1)\nreturn redis.call('INCR', KEYS[1])",
    "redis.call('SET', KEYS[1], 0.5)\nreturn {redis.call('GET', KEYS[1]), redis.call('SET', KEYS[1], -3, 'GET')}",
    "return redis.call('PEXPIRE', KEYS[1], 1000 * 3)",
    /* time and expiry as a script sees them */
    "return redis.call('TIME')",
    "redis.call('PEXPIRE', KEYS[1], ARGV[1])\nreturn {redis.call('PTTL', KEYS[1]), redis.call('EXISTS', KEYS[1]), redis.call('TIME')}",
    "local time = redis.call('TIME')\nreturn redis.call('PEXPIREAT', KEYS[1], math.floor(time[1] * 1000 + time[2] / 1000) + ARGV[1])",
    "return redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])",
    "return redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[1]) or {redis.call('PTTL', KEYS[1]), redis.call('GET', KEYS[1])}",
    "return redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL', 'GET')",
    /* what a fair queue needs */
    "redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])\nreturn redis.call('ZRANGE', KEYS[1], 0, 63, 'WITHSCORES')",
    "return {redis.call('ZCOUNT', KEYS[1], '1', '+inf'), redis.call('ZREM', KEYS[1], ARGV[2]), redis.call('ZCOUNT', KEYS[1], '-inf', 3)}",
    "local score = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or '0'\nreturn redis.call('ZRANGEBYSCORE', KEYS[1], score, score, 'WITHSCORES')",
    "local all = redis.call('ZRANGE', KEYS[1], 0, -1)\nif #all > 3 then return redis.call('ZREM', KEYS[1], unpack(all)) end\nreturn #all",
    "local all = redis.call('HKEYS', KEYS[1])\nif #all > 4 then return redis.call('HDEL', KEYS[1], unpack(all)) end\nreturn all",
    "local counts = redis.pcall('PUBSUB', 'NUMSUB', ARGV[3])\nreturn {counts[2], redis.call('PUBLISH', ARGV[3], ARGV[2])}",
    "return redis.call('PUBLISH', ARGV[3], '')",
};

#endif
