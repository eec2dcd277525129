/* SPDX-License-Identifier: BSD-3-Clause */
/* pubsub - connections, and the channels to which they listen.
 * Invariant: a channel is known exactly while somebody listens to it, and each side lists the other once. */
#ifndef SIM_STORE_PUBSUB_H
#define SIM_STORE_PUBSUB_H

#include "base/table.h"

struct sim_channel {
    struct hl_table_entry entry;
    unsigned *listeners; /* numbers of connections, in the order in which they came */
    size_t count, room;
    size_t length;
    char name[];
};

struct sim_connection {
    int is_open, is_logged_in;
    struct sim_channel **channels; /* in the order of subscription */
    size_t count, room;
};

struct sim_pubsub {
    struct hl_table channels;
    struct hl_memory memory;
    struct sim_connection *connections; /* number n is at n - 1 */
    unsigned count, room;
    size_t subscriptions;
};

struct sim_store;

void sim_pubsub_init(struct sim_pubsub *pubsub);
void sim_pubsub_done(struct sim_pubsub *pubsub);
unsigned sim_pubsub_connect(struct sim_pubsub *pubsub);
void sim_pubsub_disconnect(struct sim_pubsub *pubsub, unsigned connection);
struct sim_connection *sim_pubsub_connection(const struct sim_pubsub *pubsub, unsigned connection); /* NULL: not open */
const struct sim_channel *sim_pubsub_channel(const struct sim_pubsub *pubsub, const char *name, size_t length); /* NULL: nobody listens */

#endif
