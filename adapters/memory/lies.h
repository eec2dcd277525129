/* SPDX-License-Identifier: BSD-3-Clause */
/* lies - deliberate differences from a real server, of which one at a time can be switched on. A differential test that
 * does not find them would not find a real mistake in the store either. */
#ifndef SIM_STORE_LIES_H
#define SIM_STORE_LIES_H

#define SIM_LIES(X)                                                                      \
    X(EXPIRES_EARLY, "a key is gone in the millisecond of its expiry")                   \
    X(EXPIRES_LATE, "a key lives a millisecond too long")                                \
    X(EXPIRY_RETURNS, "a key that was found expired is back when the clock steps back")  \
    X(PTTL_SHORT, "PTTL says a millisecond less")                                        \
    X(PAST_EXPIRY_KEPT, "PEXPIRE into the past does not delete")                         \
    X(SET_KEEPS_TTL, "SET without KEEPTTL keeps the expiry")                             \
    X(KEEPTTL_DROPS, "SET KEEPTTL drops the expiry")                                     \
    X(SET_GET_NEW, "SET GET answers the new value")                                      \
    X(SET_GET_ANY_TYPE, "SET GET overwrites a key of another type")                      \
    X(HASH_STAYS_EMPTY, "the last HDEL leaves an empty hash")                            \
    X(HASH_REORDERS, "HSET of a field that is there moves it to the end")                \
    X(HSET_DROPS_TTL, "HSET drops the expiry")                                           \
    X(PUBLISH_COUNTS_ONE, "PUBLISH counts channels instead of subscribers")              \
    X(MESSAGE_LOST, "a message with an empty payload is not delivered")                  \
    X(UNSUBSCRIBE_STAYS, "a connection hears a channel that it has left")                \
    X(FLUSH_FORGETS_NOT, "SCRIPT FLUSH keeps scripts")                                   \
    X(SCRIPT_ROUNDS, "a number that a script returns is rounded")                        \
    X(SCRIPT_NIL_SKIPPED, "a table that a script returns goes on behind a nil")          \
    X(SCRIPT_DIGITS, "numbers that a script passes on have 14 digits")                   \
    X(PCALL_FALSE, "redis.pcall answers false instead of an error table")                 \
    X(COUNT_FROM_BELOW, "ZCOUNT counts from one below")                                  \
    X(SCORE_TIES, "equal scores are ordered from the last name to the first")            \
    X(LT_RAISES, "ZADD LT takes a higher score, too")                                    \
    X(RANK_FROM_ONE, "ZRANK counts from one")                                            \
    X(LIMIT_IGNORED, "ZRANGEBYSCORE LIMIT shows all that it did not pass over")          \
    X(TIME_MILLISECONDS, "TIME has no microseconds")

enum sim_store_lie {
#define X(name, what) SIM_LIE_##name,
    SIM_LIES(X)
#undef X
    SIM_LIE_NONE
};

struct sim_store;
void sim_store_lie(struct sim_store *store, enum sim_store_lie lie);
const char *sim_store_lie_name(enum sim_store_lie lie);

#endif
