/* libev.h - hilock on libev. Link hilock-libev; the core library links no loop. */
#ifndef HILOCK_ADAPTERS_LIBEV_H
#define HILOCK_ADAPTERS_LIBEV_H

#include <hilock/hilock.h>

HILOCK_BEGIN

struct ev_loop;
struct hilock_loop;

/* hilock_client_open on this loop, EV_DEFAULT or another. The loop must live, and run, until
 * on_closed; an open client keeps ev_run running. hilock's only watcher has the priority EV_MAXPRI,
 * so that renewals and losses are not starved. After a pause of the process on_lost runs before
 * those of the program's own timers that came due in it and have a lower priority.
 * libev has no resolver: a thread resolves a host name by getaddrinfo, with all signals blocked,
 * and lives until that ends; a numeric address needs none. One client per loop and deployment.
 * hilock has its own clock: libev's timers and ev_now() do not matter to it. A forked child
 * abandons after ev_loop_fork(). libev.so has functions with libevent's names (event_add): a
 * program that links both names libevent first. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_client_open_libev(hilock_client **ret_client, struct ev_loop *loop,
                         const struct hilock_client_options *options,
                         struct hilock_error *ret_error);

/* Ends a client whose loop the program has stopped turning, as after the join of its thread: adopts
 * it for this thread (hilock_client_adopt), closes it, and turns loop until it is gone; what else
 * is on that loop runs meanwhile. Not inside a callback of the loop. If it cannot be turned the
 * client is abandoned. Refusals: as for hilock_client_adopt and hilock_client_close. */
HILOCK_API hilock_status
hilock_client_close_libev(hilock_client *client, struct ev_loop *loop, uint32_t drain_ms);

/* The plain loop table, for a program that opens by hilock_client_open. On success the caller
 * passes it on or calls its free_ctx. Refusals: INVALID, NO_MEMORY. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_libev_loop(struct hilock_loop *ret_loop, struct ev_loop *loop);

HILOCK_END

#endif
