/* SPDX-License-Identifier: BSD-3-Clause */
/* store.h - plain hiredis connections to the server that a hilock URL names. */
#ifndef BENCH_STORE_H
#define BENCH_STORE_H

struct event_base;
struct redisContext;
struct redisAsyncContext;

enum { STORE_ERROR_SIZE = 512 };

/* redis://[user[:password]@]host[:port][/db] or unix://[user[:password]@]/path[?db=n]. Authenticated, and the database
 * selected. NULL: ret_error (of STORE_ERROR_SIZE) says why. A blocking one gives a command up after three seconds. */
struct redisContext *store_connect(const char *url, char *ret_error);

/* The same on a loop, by hiredis' own libevent adapter; not yet connected when it returns, but ready for commands. A
 * wrong password or database ends the connection. */
struct redisAsyncContext *store_connect_async(const char *url, struct event_base *base, char *ret_error);

#endif
