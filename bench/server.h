/* SPDX-License-Identifier: BSD-3-Clause */
/* server.h - the store of one run: a private redis-server, or the one a URL names. */
#ifndef BENCH_SERVER_H
#define BENCH_SERVER_H

#include <sys/types.h>

struct server {
    char directory[80]; /* of the private one: socket and log; "" when the server is not ours */
    char url[512];
    pid_t pid;          /* 0 when not ours, or stopped */
    pid_t janitor;      /* removes the directory when leash_fd is closed; 0: none */
    int leash_fd;
};

/* url NULL or "": starts redis-server (or valkey-server) on a unix socket in a fresh temporary directory, and returns
 * once it answers. Returns 0; -1: *ret_server is still empty, and ret_error (of 512 bytes) says what is wrong and what
 * to do. */
int server_start(struct server *ret_server, const char *url, char *ret_error);

/* Ends what server_start began, directory included. Any state, any number of times. */
void server_stop(struct server *server);

#endif
