/* SPDX-License-Identifier: BSD-3-Clause */
/* redis - the store as a test sees and changes it, past hilock: one plain blocking connection. Formats are hiredis' own ("%s", "%b"). Without
 * an answer, and for an answer of another type than asked for, the test fails. */
#ifndef LIVE_REDIS_H
#define LIVE_REDIS_H

#include <hiredis/hiredis.h>

struct server;

struct redis {
    redisContext *context;
    char text[1024]; /* what redis_text answered last */
};

struct redis *redis_open(const struct server *server);
void redis_close(struct redis *redis); /* NULL is allowed */
struct redis *redis_at(const struct server *server); /* one that stays open, to look at this server; not to be closed */

redisReply *redis_reply(struct redis *redis, const char *format, ...); /* any answer, never NULL; the caller calls freeReplyObject */
void redis_do(struct redis *redis, const char *format, ...);           /* anything but an error */
long long redis_integer(struct redis *redis, const char *format, ...);
const char *redis_text(struct redis *redis, const char *format, ...);  /* of a string or status; "" for nil. Good until the next */
size_t redis_count(struct redis *redis, const char *format, ...);      /* items of an array */

/* Calls of one command ("evalsha", "subscribe", "script|load") since the start or CONFIG RESETSTAT, by all clients; those in scripts too. */
long long redis_calls(struct redis *redis, const char *command);
long long redis_info(struct redis *redis, const char *section, const char *key);
int redis_says(const struct server *server, const char *question, const char *words); /* in its answer */
size_t redis_lock_keys(struct redis *redis);    /* keys that are no token keys */
size_t redis_clients(struct redis *redis);      /* connections named hilock:... */
size_t redis_queues(struct redis *redis);       /* names that somebody waits for at the store */
size_t redis_channels(struct redis *redis);     /* unlock channels that somebody listens to */
size_t redis_sharded_channels(struct redis *redis); /* the same of a cluster, from 7.0 on */

#endif
