/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c - see queue.h. */
#include "queue.h"

#include "crowd.h"
#include "store.h"

#include <stdio.h>

enum { PATIENCE_MS = 20000, POLL_MS = 5 };

long long queue_places(struct redisContext *store, const char *name)
{
    long long now = store_ask(store, "ZCARD hilock:queue:{%s}", name);
    long long before = store_ask(store, "ZCARD hilock:wait:{%s}", name);
    return now < 0 || before < 0 ? -1 : now + before;
}

int queue_await(struct redisContext *store, const char *name, unsigned count)
{
    for (unsigned waited_ms = 0; waited_ms < PATIENCE_MS; waited_ms += POLL_MS) {
        long long places = queue_places(store, name);
        if (places < 0)
            return -1;
        if (places >= count)
            return 0;
        crowd_rest(POLL_MS / 1e3);
    }
    fprintf(stderr, "hilock-bench: there are no %u places in the queue\n", count);
    return -1;
}
