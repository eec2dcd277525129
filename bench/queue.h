/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.h - how many wait for a name at the store. */
#ifndef BENCH_QUEUE_H
#define BENCH_QUEUE_H

struct redisContext;

/* Counts the places in the queue of this version, and in that of the version before it. -1: reported on stderr. */
long long queue_places(struct redisContext *store, const char *name);

/* Returns once there are so many places. -1: reported on stderr, also if they are not there after 20 seconds. */
int queue_await(struct redisContext *store, const char *name, unsigned count);

#endif
