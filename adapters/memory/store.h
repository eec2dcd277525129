/* SPDX-License-Identifier: BSD-3-Clause */
/* store - a Redis server without its sockets and its clock, for plays and the simulator: keys with expiry, the text
 * of the scripts run by Lua 5.1, publish and subscribe, and the errors of a real server.
 *
 * The store models the visible behaviour of the commands that a lock client and its scripts use; to any other
 * command it answers with an error. Time stands still during a command. An expired key is deleted when a command
 * asks for it, or by sim_store_sweep(); in the very millisecond of its expiry the key still exists.
 * test/sim/lockstep compares the store with real servers; README.md lists what it does not model. */
#ifndef SIM_STORE_H
#define SIM_STORE_H

#include "reply.h"
#include "lies.h"

struct sim_store;

struct sim_said { const char *channel, *text; size_t channel_length, text_length; };

struct sim_store_events {
    /* A subscribed connection gets a message: [message, channel, payload], or smessage on a sharded channel. It also
     * gets the confirmations of a SUBSCRIBE or UNSUBSCRIBE of several channels, except for the last one, which is
     * the command's reply, and a sunsubscribe that it has not asked for (peers.h). The message is valid until the
     * call returns. */
    void (*message)(void *arg, unsigned connection, const struct sim_reply *push);
    /* A PUBLISH or SPUBLISH must be passed on with sim_store_deliver(): to the replicas, and on a plain channel to the
     * whole cluster. NULL: there is no other store. */
    void (*published)(void *arg, int is_sharded, const struct sim_said *said);
    void (*killed)(void *arg, unsigned connection); /* CLIENT KILL has removed this connection from the store.
                                                       NULL: nobody uses CLIENT KILL */
};

struct sim_store *sim_store_new(const struct sim_store_events *events, void *arg);
void sim_store_free(struct sim_store *store);
/* Sets the server's wall clock, which may step back. */
void sim_store_set_time(struct sim_store *store, uint64_t wall_us);
void sim_store_set_started(struct sim_store *store, uint64_t wall_us); /* sets since when the server has been up;
                                                                          otherwise since its first time or restart */

/* Connections are numbered from 1 on, and no number is used twice. */
unsigned sim_store_connect(struct sim_store *store);
void sim_store_disconnect(struct sim_store *store, unsigned connection); /* does nothing if it is closed already */
/* Executes a command. The reply is valid until the next call on the store. NULL: the connection is not open: it
 * never was, or a restart has closed it. */
const struct sim_reply *sim_store_execute(struct sim_store *store, unsigned connection, int argc,
                                          const char *const *argv, const size_t *lengths);

/* ---- faults of a server ---- */

void sim_store_restart(struct sim_store *store, int keeps_data); /* closes every connection, forgets all scripts,
                                                                    and begins to count the uptime anew */
void sim_store_flush_scripts(struct sim_store *store);
void sim_store_sweep(struct sim_store *store); /* deletes expired keys, as a real server does in the background */
/* Sets the password; NULL: none is needed. Connections that are logged in stay so. */
void sim_store_set_password(struct sim_store *store, const char *password);
/* Adds a user beside "default". The texts are not copied. */
void sim_store_set_user(struct sim_store *store, const char *name, const char *password);
void sim_store_set_policy(struct sim_store *store, const char *policy); /* sets the maxmemory-policy of a store with a
                                                                           limit. The text is not copied */
void sim_store_mute(struct sim_store *store);                            /* denies PUBLISH, also to scripts */

/* Takes from scripts the right to this command (NULL: to any command) if its first key begins with this text (NULL:
 * with any key). The texts are not copied. If both are NULL, scripts have all rights. Commands of a connection
 * itself are not refused. */
void sim_store_deny(struct sim_store *store, const char *command, const char *prefix);

enum sim_refusal {
    SIM_REFUSE_NOTHING,
    SIM_REFUSE_WRITES, /* READONLY, MISCONF, NOREPLICAS: refuses writes; a script runs up to its first write */
    SIM_REFUSE_GROWTH, /* like OOM: refuses writes that may need memory, but none of a script that has written */
    SIM_REFUSE_ALL     /* like LOADING, MASTERDOWN: refuses all commands except AUTH, SELECT, CLIENT, INFO, ROLE,
                          TIME, PUBLISH, SUBSCRIBE and UNSUBSCRIBE */
};
/* error: the whole error, "READONLY You can't ..."; it is not copied */
void sim_store_refuse(struct sim_store *store, enum sim_refusal what, const char *error);

/* ---- a copy of all keys at one moment, such as a lagging replica or a disk before a crash has ---- */

struct sim_store_data;
struct sim_store_data *sim_store_save(const struct sim_store *store);
/* Replaces all keys of the store by those of the copy, and nothing else. */
void sim_store_load(struct sim_store *store, const struct sim_store_data *data);
void sim_store_data_free(struct sim_store_data *data);

/* ---- reading the store from outside: nothing here changes or expires a key ---- */

uint64_t sim_store_writes(const struct sim_store *store); /* a number that rises with every change of a key */
/* Returns over how many keys, members, fields, elements of ranges, channels and listeners the commands have walked,
 * also those of scripts: the work of a real server that grows with the number of these. */
uint64_t sim_store_touched(const struct sim_store *store);
uint64_t sim_store_started_us(const struct sim_store *store); /* on the store's clock */
uint64_t sim_store_commands(const struct sim_store *store); /* how many commands connections have called; those
                                                               that scripts call are not counted */
/* Returns the microseconds until the key is gone, on the server's clock; the key still exists in the millisecond of its
 * expiry. -1: the key does not expire; -2: there is no such key. */
int64_t sim_store_left_us(const struct sim_store *store, const char *key, size_t length);
/* Returns the value of a field of a hash; NULL: there is no such field, or no such hash. A string counts as a hash
 * with one field, whose name is the string and whose value is empty. The value is valid until the next call that may
 * write. */
const char *sim_store_hash_get(const struct sim_store *store, const char *key, size_t length, const char *field,
                               size_t field_length, size_t *ret_length);
struct sim_store_field { const char *name, *value; size_t name_length, value_length; double score; };
/* Finds field i of a hash, in the order of arrival, or member i of a sorted set. Returns 0 if there is none. */
int sim_store_hash_field(const struct sim_store *store, const char *key, size_t length, size_t i,
                         struct sim_store_field *ret_field);
/* Calls fn for each key that has not expired, in the order of arrival. */
void sim_store_each_key(const struct sim_store *store, void (*fn)(void *arg, const char *key, size_t length),
                        void *arg);
size_t sim_store_keys(const struct sim_store *store); /* how many keys have not expired */
size_t sim_store_connections(const struct sim_store *store);
size_t sim_store_subscriptions(const struct sim_store *store); /* how many pairs of connection and channel there are */
size_t sim_store_listeners(const struct sim_store *store, int is_sharded, const char *channel, size_t length);
/* Returns a digest of the keys (their values and expiry, but not their order of arrival), of the subscriptions and
 * of the loaded scripts. The clock is not a part of it. */
uint64_t sim_store_digest(const struct sim_store *store);

#endif
