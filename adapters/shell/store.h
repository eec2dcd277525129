/* SPDX-License-Identifier: BSD-3-Clause */
/* store - the server without the library: a plain blocking connection for questions that are not about a lock: names by
 * prefix, the age of a hold, the checks of `doctor`. The same URL, the same login. Not over TLS: that is refused with a
 * sentence. No message shows a password. */
#ifndef SHELL_STORE_H
#define SHELL_STORE_H

#include "base/url.h"

#include <hiredis/hiredis.h>

enum { STORE_PATIENCE_S = 3 };

struct store {
    struct hl_memory memory;
    struct hl_url url;
    redisContext *context;  /* to a server of the locks; NULL: none */
    char place[300];        /* what it is connected to, as text */
    char error[400];        /* why the latest call failed */
};

int store_open(struct store *store, const char *url); /* a master: the one that Sentinel names, or any of a cluster. 0;
                                                         -1: see error */
/* another server of the deployment instead. Likewise */
int store_join(struct store *store, const char *host, int port, int is_sentinel);
void store_close(struct store *store); /* in any state but unwritten */

/* An answer, also an error of the server; the caller frees it by freeReplyObject. NULL: no answer. */
redisReply *store_ask(struct store *store, const char *format, ...) __attribute__((format(printf, 2, 3)));
redisReply *store_ask_words(struct store *store, int count, const char **words);
/* The same, sent to the server that has the key: in a cluster it follows redirects. */
redisReply *store_ask_about(struct store *store, int count, const char **words);

typedef int store_server_fn(struct store *store, void *arg); /* not 0: stop */
/* for each server in turn: store is connected to it. 0; -1: see error */
int store_each_master(struct store *store, store_server_fn *visit, void *arg);

#endif
