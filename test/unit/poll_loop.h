/* SPDX-License-Identifier: BSD-3-Clause */
/* poll_loop - the smallest loop that keeps the promises of loop.h, over poll(2) and the monotonic clock. It resolves no names.
 * A turn looks at each descriptor once, and fires the timers that were started in earlier turns and are due. */
#ifndef TEST_POLL_LOOP_H
#define TEST_POLL_LOOP_H

#include <hilock/loop.h>

struct poll_loop;

struct poll_loop *poll_loop_new(struct hilock_loop *ret_table); /* free_ctx of the table ends it */
void poll_loop_turn(struct poll_loop *loop, int wait_ms);       /* waits at most so long for something to happen */
int poll_loop_watches(const struct poll_loop *loop);            /* that live */
int poll_loop_timers(const struct poll_loop *loop);
void poll_loop_refuse_watching(struct poll_loop *loop, int is_refusing); /* from now on watch_set cannot */

#endif
