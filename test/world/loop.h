/* SPDX-License-Identifier: BSD-3-Clause */
/* loop - struct hilock_loop over virtual time: one process' event loop.
 * Timers are events of the process' lane; names are answered from a list. There are no descriptors here: links are the network's
 * (net.h). The loop's maker checks the counts when the client has gone: what it left behind. */
#ifndef TEST_WORLD_LOOP_H
#define TEST_WORLD_LOOP_H

#include <hilock/loop.h>

#include "world/memory.h"
#include "world/world.h"

enum { WORLD_ADDRESSES_MAX = 12 };

struct world_name { /* what a query for any host is answered */
    uint64_t takes_us;
    const char *addresses[WORLD_ADDRESSES_MAX + 1]; /* numeric; ended by NULL */
    const char *error;                              /* when there are none */
    int is_silent;
};

struct world_loop {
    struct world *world;
    struct world_lane lane;
    struct world_clock clock;
    struct world_memory *memory; /* NULL: never out */
    struct net *net;             /* of its links (net.h) */
    struct world_name name;
    uint64_t early_us;           /* timers of more than that fire so much too soon, as in a loop with a cached time */
    uint64_t late_us;            /* or so much too late */
    uint64_t (*some_late_us)(void *arg); /* and by so much more, asked as a timer starts; NULL: nothing */
    void (*turned)(void *arg);           /* after each timer that fired; NULL */
    void *arg;
    unsigned timers, queries, queries_begun, queries_cancelled, ends; /* that live; ever; ever; calls of free_ctx */
};

void world_loop_init(struct world_loop *loop, struct world *world, struct world_memory *memory);
struct hilock_loop world_loop_table(struct world_loop *loop);

#endif
