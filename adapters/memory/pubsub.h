/* SPDX-License-Identifier: BSD-3-Clause */
/* pubsub - connections, and the channels to which they listen. Plain and sharded channels are separate, even with
 * the same name. Invariant: a channel exists exactly while a connection listens to it, and each side lists the other
 * once. */
#ifndef SIM_STORE_PUBSUB_H
#define SIM_STORE_PUBSUB_H

#include "table.h"

struct sim_channel {
    struct sim_table_entry entry;
    unsigned *listeners; /* the numbers of its connections, in the order in which they subscribed */
    size_t count, room;
    int is_sharded;
    size_t length;
    char name[];
};

struct sim_connection {
    int is_open, is_logged_in, is_asking; /* is_asking: the command before was ASKING */
    char *name; /* set by CLIENT SETNAME; NULL: it has no name */
    struct sim_channel **channels; /* in the order of subscription */
    size_t count, room, sharded;   /* sharded: how many of `count` are sharded channels */
};

struct sim_pubsub {
    struct sim_table channels[2]; /* plain, sharded */
    struct sim_connection *connections; /* connection number n is at index n - 1 */
    unsigned count, room;
    size_t subscriptions;
};

struct sim_store;

void sim_pubsub_init(struct sim_pubsub *pubsub);
void sim_pubsub_done(struct sim_pubsub *pubsub);
unsigned sim_pubsub_connect(struct sim_pubsub *pubsub);
void sim_pubsub_disconnect(struct sim_pubsub *pubsub, unsigned connection);
/* Finds a connection by its number. NULL: it is not open. */
struct sim_connection *sim_pubsub_connection(const struct sim_pubsub *pubsub, unsigned connection);
/* Finds a channel. NULL: nobody listens to it. */
const struct sim_channel *sim_pubsub_channel(const struct sim_pubsub *pubsub, int is_sharded, const char *name,
                                             size_t length);
/* the listeners */
unsigned sim_pubsub_tell(struct sim_store *store, int is_sharded, const char *name, size_t length, const char *text,
                         size_t text_length);
void sim_pubsub_evict(struct sim_store *store, unsigned slot); /* takes its channels from all listeners, and notifies
                                                                  each */

#endif
