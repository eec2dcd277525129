/* SPDX-License-Identifier: BSD-3-Clause */
/* jumping_loop - a loop of one thread whose clock is its own: when no descriptor is ready it jumps to the next timer. What is spoken between clients
 * and store of one loop takes no time on it, and a lease of 30 s is over at once. */
#ifndef TEST_JUMPING_LOOP_H
#define TEST_JUMPING_LOOP_H

#include <hilock/loop.h>

struct jumping_loop;

struct jumping_loop *jumping_loop_new(void);
void jumping_loop_free(struct jumping_loop *loop); /* nothing is on it by then */
struct hilock_loop jumping_loop_table(struct jumping_loop *loop); /* as many as are wanted */
void jumping_loop_turn(struct jumping_loop *loop, uint64_t until_us); /* what is ready, else the next timer, but not beyond that time */
uint64_t jumping_loop_us(const struct jumping_loop *loop);
int jumping_loop_is_empty(const struct jumping_loop *loop); /* of watches and timers */
int jumping_loop_tables(const struct jumping_loop *loop);   /* whose free_ctx has not been called */
void jumping_loop_fail(struct jumping_loop *loop, int nth); /* the nth of all calls that may fail from now on; 0: none */

#endif
