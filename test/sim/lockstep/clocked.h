/* SPDX-License-Identifier: BSD-3-Clause */
/* clocked - a real server under a wall clock that the test moves (wall_clock.c). What it does in the background, at a time of its own choice,
 * cannot be compared: expired keys stay until they are asked for; its keys stay in small lists, whose order is defined. */
#ifndef LOCKSTEP_CLOCKED_H
#define LOCKSTEP_CLOCKED_H

#include <hiredis/hiredis.h>

#include "live/support/server.h"

struct clocked {
    struct server *server; /* ended by server_end */
    volatile uint64_t *wall_us; /* shared with it */
    char version[64];
};

void clocked_begin(struct clocked *clocked, const char *shim, uint64_t wall_us);
void clocked_set_time(const struct clocked *clocked, uint64_t wall_us);
redisContext *clocked_connect(const struct clocked *clocked);

#endif
