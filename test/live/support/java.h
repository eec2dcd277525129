/* SPDX-License-Identifier: BSD-3-Clause */
/* java - a Java service with Redisson's RLock, played by raw commands: one thread of one client of it. */
#ifndef LIVE_JAVA_H
#define LIVE_JAVA_H

#include "redis.h"

enum { JAVA_HAD = -1 };

/* JAVA_HAD: it is his, once more; else the holder's PTTL. */
long long java_lock(struct redis *redis, const char *name, const char *holder, int lease_ms);
/* 0: still held, counted down; 1: free, published on the channel; JAVA_HAD: it was not his. */
long long java_unlock(struct redis *redis, const char *name, const char *holder, int lease_ms);

#endif
