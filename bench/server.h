/* SPDX-License-Identifier: BSD-3-Clause */
/* server.h - the store of one run: a private redis-server, or the one a URL names. */
#ifndef BENCH_SERVER_H
#define BENCH_SERVER_H

#include <sys/types.h>

struct server {
    char directory[80]; /* the directory of a private server, with its socket and log; "": the server is not private */
    char url[512];
    pid_t pid;          /* 0: the server is not private, or is stopped */
    pid_t janitor;      /* removes the directory when leash_fd is closed; 0: none */
    int leash_fd;
};

/* url: the server to use; NULL or "" starts redis-server (or valkey-server) on a unix socket in a new temporary
 * directory, and waits until it answers. Returns 0; -1: *ret_server is still empty, and ret_error (of 512 bytes) has
 * what is wrong and what to do. */
int server_start(struct server *ret_server, const char *url, char *ret_error);

/* Ends what server_start began, and removes the directory. Legal in any state, and any number of times. */
void server_stop(struct server *server);

#endif
