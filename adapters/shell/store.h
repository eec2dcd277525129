/* SPDX-License-Identifier: BSD-3-Clause */
/* store - asks the server without the library, over a plain blocking connection, what a lock's calls cannot: names by
 * prefix, the age of a hold, and the checks of `doctor`. It uses the same URL and login as the library. TLS is not
 * supported, and refused with the reason. No message shows a password. */
#ifndef SHELL_STORE_H
#define SHELL_STORE_H

#include "base/url.h"

#include <hiredis/hiredis.h>

enum { STORE_PATIENCE_S = 3 };

struct store {
    struct hl_memory memory;
    struct hl_url url;
    redisContext *context;  /* the connection to a server that has locks; NULL: none */
    char place[300];        /* the address to which it is connected, as text */
    char error[400];        /* why the latest call failed */
};

int store_open(struct store *store, const char *url); /* connects to a master: the one that Sentinel names, or any one
                                                         of a cluster. Returns 0; -1: `error` has the reason */
/* Connects to another server of the deployment instead. Returns the same. */
int store_join(struct store *store, const char *host, int port, int is_sentinel);
void store_close(struct store *store); /* legal in any state, but the struct must be initialized */

/* Sends a command, and returns the answer, which may be an error of the server; the caller frees it by
 * freeReplyObject(). NULL: there was no answer. */
redisReply *store_ask(struct store *store, const char *format, ...) __attribute__((format(printf, 2, 3)));
redisReply *store_ask_words(struct store *store, int count, const char **words);
/* Does the same at the server that has the key: in a cluster it follows redirects. */
redisReply *store_ask_about(struct store *store, int count, const char **words);

typedef int store_server_fn(struct store *store, void *arg); /* returns 0 to go on with the next server */
/* Connects to each server in turn, and calls fn. Returns 0; -1: `error` has the reason. */
int store_each_master(struct store *store, store_server_fn *visit, void *arg);

#endif
