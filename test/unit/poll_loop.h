/* SPDX-License-Identifier: BSD-3-Clause */
/* poll_loop - the smallest loop that keeps the promises of loop.h, over poll(2) and the monotonic clock. It resolves no names.
 * A turn looks at each descriptor once, and fires the timers that were started in earlier turns and are due.
 * One whose clock jumps has a time of its own: when no descriptor is ready it goes on to the next timer. What is spoken
 * between clients and store of one such loop takes no time on it, and a lease of 30 s is over at once. */
#ifndef TEST_POLL_LOOP_H
#define TEST_POLL_LOOP_H

#include <hilock/loop.h>

struct poll_loop;

struct poll_loop *poll_loop_new(void);
struct poll_loop *poll_loop_new_jumping(void);
struct hilock_loop poll_loop_table(struct poll_loop *loop); /* as many as are wanted */
int poll_loop_end(struct poll_loop *loop); /* frees it; how many watches, timers and tables were left: must be 0 */
void poll_loop_turn(struct poll_loop *loop, int wait_ms);       /* waits at most so long for something to happen */
void poll_loop_refuse_watching(struct poll_loop *loop, int is_refusing); /* from now on watch_set cannot */

void poll_loop_jump(struct poll_loop *loop, uint64_t until_us); /* a turn; the time does not go on beyond that one */
uint64_t poll_loop_us(const struct poll_loop *loop);
void poll_loop_fail(struct poll_loop *loop, int nth); /* the nth from now on of all calls that may fail does; 0: none */

#endif
