/* SPDX-License-Identifier: BSD-3-Clause */
/* masters - several private servers that decide by votes, and a look at each of them. */
#ifndef LIVE_MASTERS_H
#define LIVE_MASTERS_H

#include "client.h"
#include "redis.h"
#include "server.h"

enum { MASTERS_MAX = 5 };

struct masters {
    unsigned count;
    struct server *servers[MASTERS_MAX];
    struct redis *looks[MASTERS_MAX]; /* NULL: the server is down */
    const char *urls[MASTERS_MAX + 1];
};

void masters_start(struct masters *masters, unsigned count);
void masters_end(struct masters *masters); /* checks that no lock's key is left at those that run */

void masters_kill(struct masters *masters, unsigned i);
void masters_restart(struct masters *masters, unsigned i); /* empty */

void masters_await(struct client *client, unsigned up); /* until so many are connected */

#endif
