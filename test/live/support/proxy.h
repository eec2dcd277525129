/* SPDX-License-Identifier: BSD-3-Clause */
/* proxy - stands between clients and a server, and does to their connections what a bad network does. It listens on a unix socket beside the
 * server's and on a loopback port, and runs in a thread of its own; fork no child while it runs.
 *
 * A connection is a subscription link once it has said SUBSCRIBE, a command link once it has said anything that is not part of a login. */
#ifndef LIVE_PROXY_H
#define LIVE_PROXY_H

#include <stddef.h>
#include <sys/types.h>

struct server;
struct proxy;

enum { PROXY_COMMANDS = 1, PROXY_SUBSCRIPTIONS = 2, PROXY_LOGINS = 4, PROXY_ALL = 7 }; /* which links */
enum { PROXY_REQUESTS = 1, PROXY_REPLIES = 2, PROXY_BOTH = 3 };                        /* which direction */

struct proxy *proxy_start(const struct server *server);
void proxy_end(struct proxy *proxy); /* NULL is allowed; cuts everything */
const char *proxy_url(const struct proxy *proxy);     /* unix://... */
const char *proxy_tcp_url(const struct proxy *proxy); /* redis://127.0.0.1:port */

/* All of these have taken effect when they return, for what is there and, but for cut, for what comes later. */
void proxy_cut(struct proxy *proxy, unsigned links);                        /* both sides are closed now */
void proxy_hold(struct proxy *proxy, unsigned links, unsigned directions);  /* bytes wait here */
void proxy_drop(struct proxy *proxy, unsigned links, unsigned directions);  /* bytes that come from now on vanish; those held too */
void proxy_pass(struct proxy *proxy);                                       /* neither held nor dropped any more; what was held goes on */
void proxy_refuse(struct proxy *proxy, int is_refusing);                    /* new connections are closed at once */

/* Once: the next request that contains these bytes is carried to the server, but its answer never comes: as the server has answered, the
 * connection is cut. What came before it may lose its answer as well. NULL: not any more. */
void proxy_lose_reply(struct proxy *proxy, const char *word);
/* Once: the connection is cut instead of carrying the next request that contains these bytes. */
void proxy_lose_request(struct proxy *proxy, const char *word);

size_t proxy_held(struct proxy *proxy, unsigned directions); /* bytes that wait here now */
int proxy_is_armed(struct proxy *proxy);                    /* a lose_... has still to happen */

#endif
