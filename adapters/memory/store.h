/* SPDX-License-Identifier: BSD-3-Clause */
/* store - a Redis server without its sockets and its clock, for plays and the simulator: keys with expiry, the scripts'
 * own text run by Lua 5.1, publish and subscribe, and the errors that a real server gives.
 *
 * It models the visible behaviour of the commands that a lock client and its scripts use, and answers an error to any
 * other. Time stands still during a command. An expired key goes when it is asked for (or by sim_store_sweep); asking
 * at the very millisecond of its expiry still finds it. test/sim/lockstep holds the store against real servers;
 * README.md says what it does not model. */
#ifndef SIM_STORE_H
#define SIM_STORE_H

#include "reply.h"
#include "lies.h"

struct sim_store;

struct sim_said { const char *channel, *text; size_t channel_length, text_length; };

struct sim_store_events {
    /* Of a subscribed connection: [message, channel, payload]; and the confirmations of a SUBSCRIBE or UNSUBSCRIBE of
     * several channels, but for the last, which is the command's reply. Dies when the call returns. Sharded: smessage,
     * and an unasked sunsubscribe (peers.h). */
    void (*message)(void *arg, unsigned connection, const struct sim_reply *push);
    /* From a PUBLISH or SPUBLISH: replicas hear it too, and for a plain channel the whole cluster (sim_store_hear).
     * NULL: no other store does. */
    void (*published)(void *arg, int is_sharded, const struct sim_said *said);
    void (*killed)(void *arg, unsigned connection); /* by CLIENT KILL: the store knows it no longer. NULL: none is
                                                       killed */
};

struct sim_store *sim_store_new(const struct sim_store_events *events, void *arg);
void sim_store_free(struct sim_store *store);
void sim_store_set_time(struct sim_store *store, uint64_t wall_us); /* the server's wall clock; may step back */
void sim_store_set_started(struct sim_store *store, uint64_t wall_us); /* it has been up since then; else since its
                                                                          first time, or restart */

/* Connections have numbers from 1 on, never used twice. */
unsigned sim_store_connect(struct sim_store *store);
void sim_store_disconnect(struct sim_store *store, unsigned connection); /* one that is closed: nothing */
/* The reply lives until the next call of the store. NULL: the connection is not open (never was, or a restart closed
 * it). */
const struct sim_reply *sim_store_execute(struct sim_store *store, unsigned connection, int argc,
                                          const char *const *argv, const size_t *lengths);

/* A planted bug of a script: replaces `from` by `to` in its text, under the SHA-1 of the original. For scripts loaded
 * from now on; not copied. */
void sim_store_twist(struct sim_store *store, const char *from, const char *to);

/* ---- faults of a server ---- */

void sim_store_restart(struct sim_store *store, int keeps_data); /* closes every connection, forgets scripts; uptime
                                                                    counts from now */
void sim_store_flush_scripts(struct sim_store *store);
void sim_store_sweep(struct sim_store *store); /* deletes expired keys, as a server's background cycle does */
/* NULL: none. Connections that are in stay in */
void sim_store_set_password(struct sim_store *store, const char *password);
/* one beside "default"; not copied */
void sim_store_set_user(struct sim_store *store, const char *name, const char *password);
void sim_store_set_policy(struct sim_store *store, const char *policy); /* maxmemory-policy, of a store with a limit;
                                                                           not copied */
void sim_store_mute(struct sim_store *store);                            /* to publish is denied, also to scripts */

/* Scripts lack the right to this command (NULL: to any) with a first key that begins so (NULL: with any key); not
 * copied. Both NULL: they lack none. What a connection says itself is not refused. */
void sim_store_deny(struct sim_store *store, const char *command, const char *prefix);

enum sim_refusal {
    SIM_REFUSE_NOTHING,
    SIM_REFUSE_WRITES, /* READONLY, MISCONF, NOREPLICAS: also inside scripts, which run up to their first write */
    SIM_REFUSE_GROWTH, /* OOM: writes that may take memory; of scripts only those that have not written yet */
    SIM_REFUSE_ALL     /* LOADING, MASTERDOWN: all but AUTH, SELECT, CLIENT, INFO, ROLE, TIME, PUBLISH, SUBSCRIBE,
                          UNSUBSCRIBE */
};
/* error: "READONLY You can't ..."; not copied */
void sim_store_refuse(struct sim_store *store, enum sim_refusal what, const char *error);

/* ---- all keys of one moment: what a lagging replica has, or a disk before a crash ---- */

struct sim_store_data;
struct sim_store_data *sim_store_save(const struct sim_store *store);
/* its keys become these; the rest stays */
void sim_store_load(struct sim_store *store, const struct sim_store_data *data);
void sim_store_data_free(struct sim_store_data *data);

/* ---- god's view: changes nothing, expires nothing ---- */

uint64_t sim_store_writes(const struct sim_store *store); /* rises with every change of a key */
/* How many keys, members, fields, elements of ranges, channels and listeners commands have walked, in scripts too:
 * what a real server would do more of where there are more of them. */
uint64_t sim_store_touched(const struct sim_store *store);
uint64_t sim_store_started_us(const struct sim_store *store); /* by its clock */
uint64_t sim_store_commands(const struct sim_store *store); /* executed for connections; what scripts call is not
                                                               counted */
/* Microseconds until the key is gone, by the server's clock (it lives through the millisecond of its expiry); -1: it
 * does not expire; -2: there is no such key. */
int64_t sim_store_left_us(const struct sim_store *store, const char *key, size_t length);
/* The value of a hash's field; NULL: none, or no living hash. A string counts as one field named by it, with an empty
 * value. Lives until the next call that may write. */
const char *sim_store_hash_get(const struct sim_store *store, const char *key, size_t length, const char *field,
                               size_t field_length, size_t *ret_length);
struct sim_store_field { const char *name, *value; size_t name_length, value_length; double score; };
/* Field i of a hash, in the order of arrival, or member i of a sorted set. 0: there is none. */
int sim_store_hash_field(const struct sim_store *store, const char *key, size_t length, size_t i,
                         struct sim_store_field *ret_field);
/* Calls fn for each living key; in the order of arrival. */
void sim_store_each_key(const struct sim_store *store, void (*fn)(void *arg, const char *key, size_t length),
                        void *arg);
size_t sim_store_keys(const struct sim_store *store); /* living ones */
size_t sim_store_connections(const struct sim_store *store);
size_t sim_store_subscriptions(const struct sim_store *store); /* pairs of a connection and a channel */
size_t sim_store_listeners(const struct sim_store *store, int is_sharded, const char *channel, size_t length);
/* Of keys (values, expiry, but not the order in which they came), subscriptions and known scripts; not of the clock. */
uint64_t sim_store_digest(const struct sim_store *store);

#endif
