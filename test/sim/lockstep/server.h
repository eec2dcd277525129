/* SPDX-License-Identifier: BSD-3-Clause */
/* server - a real server under a wall clock that the test moves, on a unix socket in a directory of its own. */
#ifndef LOCKSTEP_SERVER_H
#define LOCKSTEP_SERVER_H

#include <hiredis/hiredis.h>
#include <stdint.h>
#include <sys/types.h>

struct server {
    char directory[64];
    volatile uint64_t *wall_us; /* shared with the server */
    pid_t pid;
    char version[64];
};

void server_start(struct server *server, const char *program, const char *shim, uint64_t wall_us); /* exits with a reason if it cannot */
void server_set_time(struct server *server, uint64_t wall_us);
redisContext *server_connect(const struct server *server);
void server_stop(struct server *server);

#endif
