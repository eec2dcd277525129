/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.h - what the yardsticks of bare messages have in common: the answer to a command is of no interest, and an
 * error ends the loop of the process. */
#ifndef BENCH_MESSAGES_H
#define BENCH_MESSAGES_H

struct event_base;
struct redisAsyncContext;

/* Reports why on stderr, and ends the loop. */
void messages_fail(struct event_base *base, const char *why);
/* A callback of hiredis; user: the struct event_base. */
void messages_on_answer(struct redisAsyncContext *store, void *answer, void *user);

#endif
