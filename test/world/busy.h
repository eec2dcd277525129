/* SPDX-License-Identifier: BSD-3-Clause */
/* busy - a server that takes time for what it is asked. Requests run one at a time, in the order in which they arrived;
 * meanwhile the others stand in line. What a request changes is seen as it begins, and so are the messages that it
 * publishes; its answer leaves as it ends. A server whose lane is frozen begins none.
 *
 * How long one takes is asked of the owner, who gets what its scripts have touched (sim_store_touched). Without a
 * struct busy a server takes no time, as everywhere else in this world. */
#ifndef TEST_WORLD_BUSY_H
#define TEST_WORLD_BUSY_H

#include "world/net.h"

struct busy {
    struct store *store;
    uint64_t (*takes_us)(void *arg, const struct message *request, uint64_t touched);
    void *arg;
    uint64_t free_us;     /* then it has done what it has begun */
    uint64_t took_us;     /* for the request that runs now */
    uint64_t waited_us;   /* the longest that a request stood in line; the owner sets it back */
    struct world_event next;
    TAILQ_HEAD(, hl_link) line;
};

void busy_init(struct busy *busy, struct store *store, uint64_t (*takes_us)(void *arg, const struct message *request, uint64_t touched), void *arg);

/* ---- for the network ---- */

int busy_stands_in_line(struct hl_link *link); /* something has arrived on it. 0: the server takes no time */
void busy_forget(struct hl_link *link);
void busy_took(struct store *store, const struct message *request, uint64_t touched); /* it has just run */
uint64_t busy_us(const struct store *store); /* for the request that runs now */

#endif
