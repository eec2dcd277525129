/* SPDX-License-Identifier: BSD-3-Clause */
/* store.h - plain hiredis connections to the server that a hilock URL names. */
#ifndef BENCH_STORE_H
#define BENCH_STORE_H

struct event_base;
struct redisContext;
struct redisAsyncContext;

enum { STORE_ERROR_SIZE = 512 };

/* Connects to redis://[user[:password]@]host[:port][/db] or unix://[user[:password]@]/path[?db=n], logs in, and
 * selects the database. NULL: ret_error (of STORE_ERROR_SIZE bytes) has the reason. A blocking connection gives a
 * command up after three seconds. */
struct redisContext *store_connect(const char *url, char *ret_error);

/* Does the same on a loop, with hiredis' own libevent adapter. When this returns, the connection is not connected
 * yet, but takes commands. A wrong password or database ends the connection. */
struct redisAsyncContext *store_connect_async(const char *url, struct event_base *base, char *ret_error);

/* Sends a command on a blocking connection, and returns the number that it is answered by; 0: any other answer. -1: an
 * error, reported on stderr. */
long long store_ask(struct redisContext *store, const char *format, ...);

#endif
