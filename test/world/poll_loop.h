/* SPDX-License-Identifier: BSD-3-Clause */
/* poll_loop - a loop of one thread over poll(2): real descriptors, beside the timers of loop.h. Its time is the
 * machine's, or its own:
 *  - a turn looks at each descriptor once, and fires the timers that were started in earlier turns and are due;
 *  - a jump goes to the next timer when no descriptor is ready. What is spoken between clients and store of one loop
 *    takes no time then, and a lease of 30 s is over at once.
 * A watch that is freed while descriptors are looked at stays in its list, dead, until all were. */
#ifndef TEST_WORLD_POLL_LOOP_H
#define TEST_WORLD_POLL_LOOP_H

#include <sys/queue.h>

#include "world/loop.h"

struct poll_watch;

struct poll_loop {
    struct world_loop base; /* the first: it is the ctx of the tables. It counts timers, and calls of free_ctx (ends) */
    struct world world;
    struct world_memory memory; /* of the loop itself */
    TAILQ_HEAD(, poll_watch) watches;
    int is_looking, is_refusing;    /* refusing: watch_set cannot */
    unsigned tables, watches_count; /* tables: ever made */
};

struct poll_loop *poll_loop_new(void);
void poll_loop_free(struct poll_loop *loop); /* nothing is on it by then */
struct hilock_loop poll_loop_table(struct poll_loop *loop); /* as many as are wanted */
void poll_loop_turn(struct poll_loop *loop, int wait_ms);         /* waits at most so long for something to happen */
void poll_loop_jump(struct poll_loop *loop, uint64_t until_us);   /* not beyond that time */
int poll_loop_is_empty(const struct poll_loop *loop);             /* of watches and timers */

#endif
